-- What ended without authority and still conducts protective tags: see lily.model.held.

-- The tags of any layer that are shown or held.
create function conducting_tags(source jsonb, enriched jsonb, "user" jsonb) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct found.tag order by found.tag), '{}')
  from unnest(array[source, enriched, "user"]) as layer (fields)
  cross join lateral (
    select jsonb_object_keys(coalesce(layer.fields -> 'tags', '{}'))
    union all
    select substr(field, 7) from jsonb_object_keys(layer.fields) as field where field ^@ '$held:'
  ) as found (tag)
$$;

-- Those that some layer holds and none shows; null if there are none.
create function held_tags(source jsonb, enriched jsonb, "user" jsonb) returns text[]
language sql immutable parallel safe as $$
  select array_agg(distinct substr(field, 7) order by substr(field, 7))
  from unnest(array[source, enriched, "user"]) as layer (fields)
  cross join lateral jsonb_object_keys(layer.fields) as field
  where field ^@ '$held:' and not exists (
    select from unnest(array[source, enriched, "user"]) as other (fields) where other.fields -> 'tags' ? substr(field, 7))
$$;

-- The parents that are not shown and still conduct, of the layers that no authorised statement covers; null if there are none.
create function held_parents(source jsonb, enriched jsonb, "user" jsonb) returns uuid[]
language sql immutable parallel safe as $$
  select array_agg(distinct found.parent::uuid order by found.parent::uuid)
  from (values
    ("user", false),
    (enriched, coalesce("user" @> '{"$covers": true}' and "user" ? '$parent', false)),
    (source, coalesce("user" @> '{"$covers": true}' and "user" ? '$parent', false)
             or coalesce(enriched @> '{"$covers": true}' and enriched ? '$parent', false))
  ) as layer (fields, covered)
  cross join lateral (
    select layer.fields ->> '$parent'
    union all
    select substr(field, 14) from jsonb_object_keys(layer.fields) as field where field ^@ '$held_parent:'
  ) as found (parent)
  where not layer.covered and found.parent is not null
    and found.parent <> coalesce("user" ->> '$parent', enriched ->> '$parent', source ->> '$parent', '')
$$;

-- What is held is older than what ended it, so it has a clock of its own: most assets have none, and no function is called.
alter table assets
  alter column stated set expression as (
    case when source_clocks::text like '%"$held:%' or enriched_clocks::text like '%"$held:%'
           or user_clocks::text like '%"$held:%'
         then conducting_tags(source, enriched, "user")
         when source ? 'tags' or enriched ? 'tags' or "user" ? 'tags'
         then stated_tags(source, enriched, "user") else '{}' end),
  add column held text[] collate "C" generated always as (
    case when source_clocks::text like '%"$held:%' or enriched_clocks::text like '%"$held:%'
           or user_clocks::text like '%"$held:%'
         then held_tags(source, enriched, "user") end) stored,
  add column held_parents uuid[] generated always as (
    case when source_clocks::text like '%"$held_parent:%' or enriched_clocks::text like '%"$held_parent:%'
           or user_clocks::text like '%"$held_parent:%' or "user" ? '$parent' or enriched ? '$parent'
         then held_parents(source, enriched, "user") end) stored,
  -- Whether an authorised statement deleted it: only then does it stop tags where deletion cuts.
  add column is_cut boolean generated always as (
    coalesce("user" @> '{"$deleted": true, "$cut": true}', false)
    or (coalesce(source @> '{"$deleted": true, "$cut": true}', false)
        and (coalesce(("user" ->> '$deleted')::boolean, true)
             or coalesce(user_clocks ->> '$deleted', user_at) <= coalesce(source_clocks ->> '$deleted', source_at)))
  ) stored;
create index assets_holding_tags on assets (tenant_id, id) where held is not null;
create index assets_holding_parents on assets (tenant_id, id) where held_parents is not null;

-- The parents of the graph's nodes, beside the one that `graph_nodes` has, that still conduct. Kept by propagation.
create table held_parents (
  tenant_id text not null,
  id        uuid not null,
  parent    uuid not null,
  primary key (id, parent, tenant_id)
);
create index held_parents_above on held_parents (parent, id);
create index held_parents_of_tenant on held_parents (tenant_id);
select separate_tenants('held_parents');
grant select on held_parents to lily_api;
grant select, insert, update, delete on held_parents to lily_pipeline;
