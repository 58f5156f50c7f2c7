-- What the edges of all tenants conduct, also those that conduct nothing: their assets are in the graph.
select tenant_id as tenant, from_id as id, to_id, type, conduction = 1 as masking, conduction > 0 as conducts from edges
