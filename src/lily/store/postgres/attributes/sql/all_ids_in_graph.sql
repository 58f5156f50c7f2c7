-- All assets in the graph: a changed rule may affect any of them.
select id::text from graph_nodes where tenant_id = %(tenant)s
