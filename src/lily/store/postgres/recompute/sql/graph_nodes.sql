-- What propagation has placed in the hierarchy, of every tenant; for a column that the lake alone knows, its parent.
select tenant_id as tenant, id, parent from graph_nodes
