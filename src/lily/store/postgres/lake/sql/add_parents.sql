insert into lake_parents (tenant_id, place, id)
select * from unnest(%(tenants)s::text[], %(places)s::text[], %(ids)s::uuid[])
on conflict do nothing
