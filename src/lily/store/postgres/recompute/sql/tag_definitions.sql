-- The definitions of all tags that propagate, of all tenants. Callers may add a condition on the tenant.
select tenant_id as tenant, key as tag, direction, max_depth, edge_types, stopped_by_masking from tags where propagates
