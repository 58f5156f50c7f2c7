-- The edges of all tenants, also the deleted ones: their assets are in the graph.
select tenant_id as tenant, from_id as id, to_id, type, masking, propagates and not is_deleted as conducts from edges
