insert into design_facets (tenant_id, asset_id, facets)
select * from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(facets)s::jsonb[])
on conflict (asset_id, tenant_id) do update set facets = excluded.facets
