-- The columns of tables that only the lake has and that have lineage, by name in lower case.
select g.parent::text, lower(g.qualified_name collate "C"), g.id::text
from graph_nodes g
where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[])
  and lower(g.qualified_name collate "C") = any (%(names)s::text[])
