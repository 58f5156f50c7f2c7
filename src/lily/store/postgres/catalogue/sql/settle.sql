-- The lake has given what it had of these assets.
update assets set awaits_lake = false
where awaits_lake and (tenant_id, id) in (select * from unnest(%(tenants)s::text[], %(ids)s::uuid[]))
