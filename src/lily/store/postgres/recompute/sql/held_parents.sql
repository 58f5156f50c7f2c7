-- The parents that are held, of all tenants: of assets in PostgreSQL their own, of others those of the graph.
select a.tenant_id as tenant, a.id, h.parent
from assets a cross join lateral unnest(a.held_parents) as h (parent)
where a.held_parents is not null
union all
select h.tenant_id, h.id, h.parent
from held_parents h
where not exists (select from assets a where a.tenant_id = h.tenant_id and a.id = h.id)
