-- Every tag that travels, of every tenant: whoever reads it may ask for one tenant.
select tenant_id as tenant, key as tag, direction, max_depth, edge_types, stopped_by_masking from tags where propagates
