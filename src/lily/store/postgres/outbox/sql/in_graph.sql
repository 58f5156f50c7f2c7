-- An id belongs to one tenant, so it need not be named. Edges are asked too: propagation may not have seen them yet.
select a.id::text
from unnest(%s::uuid[]) as a (id)
where exists (select from graph_nodes g where g.id = a.id)
   or exists (select from edges e where e.from_id = a.id)
   or exists (select from edges e where e.to_id = a.id)
