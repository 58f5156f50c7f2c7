-- Those of the given assets that are in the graph.
select id::text from graph_nodes where id = any (%(ids)s::uuid[]) and tenant_id = %(tenant)s
