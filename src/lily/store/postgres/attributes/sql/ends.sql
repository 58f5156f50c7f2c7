-- All that a changed rule may concern.
select id::text from graph_nodes where tenant_id = %(tenant)s
