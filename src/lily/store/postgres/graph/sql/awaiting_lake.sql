-- Nodes without an asset in PostgreSQL that have to be looked up in the lake, without those of tenants that have to wait.
select tenant_id, id::text from graph_nodes
where awaits_lake and tenant_id <> all (%(paused)s::text[])
order by id
limit %(limit)s
