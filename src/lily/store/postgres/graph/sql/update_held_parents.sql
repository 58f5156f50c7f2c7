-- Stores the held parents of nodes of a tenant that only the lake has, and returns the nodes for which they differ.
with wanted as materialized (
  select t.id, t.parent
  from unnest(%(held_ids)s::uuid[], %(held_parents)s::uuid[]) as t (id, parent)
  where not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = t.id)
),
gone as (
  delete from held_parents h using unnest(%(ids)s::uuid[]) as t (id)
  where h.id = t.id and h.tenant_id = %(tenant)s
    and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = t.id)
    and not exists (select from wanted w where w.id = h.id and w.parent = h.parent)
  returning h.id
),
new as (
  insert into held_parents (tenant_id, id, parent) select %(tenant)s, w.id, w.parent from wanted w
  on conflict do nothing
  returning held_parents.id
)
select id::text from gone
union
select id::text from new
