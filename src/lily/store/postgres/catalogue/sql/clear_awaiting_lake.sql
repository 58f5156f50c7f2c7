-- The state that the lake has of these assets, if any, has been merged.
update assets set awaits_lake = false
where awaits_lake and (tenant_id, id) in (select * from unnest(%(tenants)s::text[], %(ids)s::uuid[]))
