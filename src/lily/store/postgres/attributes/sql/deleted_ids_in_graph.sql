-- The deleted assets that are in the graph.
select g.id::text
from graph_nodes g join assets a on a.tenant_id = g.tenant_id and a.id = g.id
where g.tenant_id = %(tenant)s and a.is_deleted
