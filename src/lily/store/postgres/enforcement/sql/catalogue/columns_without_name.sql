-- The ends of edges that may be columns of the tables and whose names nobody knows: nobody has ingested them, or the lake
-- has yet to report them. Ids that are directly below a name begin alike.
select t.number, e.id::text
from unnest(%(first)s::uuid[], %(last)s::uuid[]) with ordinality as t (first, last, number)
cross join lateral (
  select i.to_id as id from edges i where i.tenant_id = %(tenant)s and i.to_id between t.first and t.last
  union
  select o.from_id from edges o where o.tenant_id = %(tenant)s and o.from_id between t.first and t.last
) e
where not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = e.id)
  and not exists (
    select from graph_nodes g where g.tenant_id = %(tenant)s and g.id = e.id and g.qualified_name is not null)
limit %(limit)s
