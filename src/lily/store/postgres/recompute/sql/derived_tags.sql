-- What is stored as derived, of every tenant.
select tenant_id as tenant, tag, asset_id as id, kind, via, depth from derived_tags
