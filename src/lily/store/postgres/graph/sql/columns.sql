-- The children of an asset that are in the graph. Columns that only the lake has are in graph_nodes alone.
select g.id::text from graph_nodes g where g.tenant_id = %(tenant)s and g.parent = %(id)s::uuid
union
select a.id::text
from assets a
where a.tenant_id = %(tenant)s and a.parent = %(id)s
  and (exists (select from edges e where e.tenant_id = %(tenant)s and e.from_id = a.id offset 0)
       or exists (select from edges e where e.tenant_id = %(tenant)s and e.to_id = a.id offset 0))
order by 1
limit %(limit)s
