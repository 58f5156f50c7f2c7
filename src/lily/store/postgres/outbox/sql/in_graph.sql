-- Ids are unique across tenants, so the tenant is not needed. Edges count too: propagation may not have handled them yet.
select a.id::text
from unnest(%s::uuid[]) as a (id)
where exists (select from graph_nodes g where g.id = a.id)
   or exists (select from edges e where e.from_id = a.id)
   or exists (select from edges e where e.to_id = a.id)
