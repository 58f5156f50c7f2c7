-- A tag that came along an `influences` edge is a kind of its own: it follows edges, but is not inherited.
alter table derived_tags drop constraint derived_tags_kind_check;
alter table derived_tags add constraint derived_tags_kind_check check (kind in ('propagated', 'inherited', 'influenced'));

-- These report it, in columns that they did not have.
drop function if exists carried(text, text, uuid, boolean);
drop function if exists arriving_tags(text, boolean, uuid[], integer);
drop function if exists steps_into(text, text, uuid);

-- Tags whose definition names `influences` are derived anew, as after a change of their definition.
with concerned as (
  select tenant_id, name, to_jsonb(tags) - array['tenant_id', 'key', 'created_at', 'updated_at'] as defined
  from tags where propagates and 'influences' = any (edge_types)
),
batch as (
  insert into batches (topic) select null where exists (select from concerned) returning id
)
insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
select batch.id, c.tenant_id, 'tag', c.name, c.defined, c.defined, 'lily' from batch cross join concerned c;
