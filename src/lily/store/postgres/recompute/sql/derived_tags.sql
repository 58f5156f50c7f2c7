-- The stored derived tags of all tenants.
select tenant_id as tenant, tag, asset_id as id, kind, via, depth from derived_tags
