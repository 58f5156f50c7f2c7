-- The columns of these tables of which only the graph knows, with their names.
select g.id::text, g.qualified_name
from graph_nodes g
where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[]) and g.qualified_name is not null
