-- Nodes without an asset in PostgreSQL that have to be looked up in the lake.
select tenant_id, id::text from graph_nodes where awaits_lake order by id limit %s
