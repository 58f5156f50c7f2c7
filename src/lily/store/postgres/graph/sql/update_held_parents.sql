-- Stores the held parents of nodes that only the lake has, and returns the nodes for which they differ.
with wanted as materialized (
  select t.tenant_id, t.id, t.parent
  from unnest(%(held_tenants)s::text[], %(held_ids)s::uuid[], %(held_parents)s::uuid[]) as t (tenant_id, id, parent)
  where not exists (select from assets a where a.tenant_id = t.tenant_id and a.id = t.id)
),
gone as (
  delete from held_parents h using unnest(%(tenants)s::text[], %(ids)s::uuid[]) as t (tenant_id, id)
  where h.id = t.id and h.tenant_id = t.tenant_id
    and not exists (select from assets a where a.tenant_id = t.tenant_id and a.id = t.id)
    and not exists (
      select from wanted w where w.tenant_id = h.tenant_id and w.id = h.id and w.parent = h.parent)
  returning h.tenant_id, h.id
),
new as (
  insert into held_parents (tenant_id, id, parent) select w.tenant_id, w.id, w.parent from wanted w
  on conflict do nothing
  returning held_parents.tenant_id, held_parents.id
)
select tenant_id, id::text from gone
union
select tenant_id, id::text from new
