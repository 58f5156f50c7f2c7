-- Ends of edges that PostgreSQL has no asset of: the lake may know their parent.
select tenant_id, id::text from graph_nodes where awaits_lake order by id limit %s
