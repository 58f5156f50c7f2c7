-- The qualified names of nodes of the graph: of assets, of columns that only the lake has, and of placeholders.
select given.id::text, coalesce(
  (select a.qualified_name from assets a where a.tenant_id = %(tenant)s and a.id = given.id),
  (select g.qualified_name from graph_nodes g where g.tenant_id = %(tenant)s and g.id = given.id),
  (select n.qualified_name from named_ends n where n.tenant_id = %(tenant)s and n.id = given.id))
from unnest(%(ids)s::uuid[]) as given (id)
