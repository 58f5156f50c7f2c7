-- Takes a tag's definition away, with its outbox row and its trace.
with decided as (
  delete from tags as t
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name,
            jsonb_build_object('name', t.name, 'propagates', t.propagates, 'direction', t.direction, 'max_depth', t.max_depth,
                                 'edge_types', t.edge_types, 'stopped_by_masking', t.stopped_by_masking) as before, null::jsonb as after
),
batch as (
  insert into batches (published_at) select null from decided where before is distinct from after returning id
),
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, %(tenant)s, 'tag', decided.name, decided.before, decided.after, %(by)s from batch, decided
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, 'tag.deleted', decided.name,
         jsonb_build_object('before', decided.before, 'after', decided.after, 'correlation', %(correlation)s::text)
  from batch, decided
)
select decided.name, pg_notify('lily_tags', %(tenant)s), pg_notify('lily_applied', '') from decided
