-- The graph nodes of all tenants, with their parents.
select tenant_id as tenant, id, parent from graph_nodes
