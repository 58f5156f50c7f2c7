-- What is directly above an asset: one row, null at the top. The graph has the parents of columns that only the lake has.
create or replace function parent_of(p_tenant text, p_id uuid) returns table (parent uuid)
language sql stable as $$
  select case when a.id is null then g.parent else a.parent::uuid end
  from (values (1)) as one (row)
  left join lateral (select id, parent from assets where tenant_id = p_tenant and id = p_id offset 0) a on true
  left join lateral (
    select g.parent from graph_nodes g where a.id is null and g.id = p_id and g.tenant_id = p_tenant offset 0) g on true
$$;

-- An asset and all that is above it, with the number of steps. The bound ends a hierarchy with a cycle.
create or replace function asset_and_above(p_tenant text, p_id uuid) returns table (id uuid, steps integer)
language sql stable as $$
  with recursive up (id, steps) as (
    select p_id, 0
    union all
    select p.parent, up.steps + 1 from up cross join lateral parent_of(p_tenant, up.id) p
    where p.parent is not null and up.steps < 64
  )
  select up.id, up.steps from up
$$;

-- What is directly below an asset.
create or replace function children_of(p_tenant text, p_id uuid) returns table (id uuid)
language sql stable as $$
  select a.id from assets a where a.tenant_id = p_tenant and a.parent = p_id::text
  union all
  select g.id from graph_nodes g
  where g.parent = p_id and g.tenant_id = p_tenant
    and not exists (select from assets a where a.tenant_id = p_tenant and a.id = g.id)
$$;
