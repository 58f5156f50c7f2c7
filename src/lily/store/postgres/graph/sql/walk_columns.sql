-- What lies directly below an asset, as far as it is in the graph; a column of the lake is known to the graph alone.
select g.id::text from graph_nodes g where g.tenant_id = %(tenant)s and g.parent = %(id)s::uuid
union
select a.id::text
from assets a
where a.tenant_id = %(tenant)s and a.parent = %(id)s
  and (exists (select from edges e where e.tenant_id = %(tenant)s and e.from_id = a.id)
       or exists (select from edges e where e.tenant_id = %(tenant)s and e.to_id = a.id))
order by 1
limit %(limit)s
