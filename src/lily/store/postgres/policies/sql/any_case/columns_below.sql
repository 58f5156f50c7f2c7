-- The names of all columns of these tables that PostgreSQL knows: assets, also where they do not state their parent, and
-- nodes of the graph.
select a.qualified_name from assets a
where a.tenant_id = %(tenant)s and a.parent = any (%(tables)s::text[])
union
select a.qualified_name
from ids_by_name_in_any_case(%(names)s::text[], true) b
join assets a on a.tenant_id = %(tenant)s and a.id = b.id
union
select g.qualified_name from graph_nodes g
where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[]) and g.qualified_name is not null
