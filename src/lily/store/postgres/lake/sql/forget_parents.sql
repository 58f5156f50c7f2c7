insert into lake_parents (tenant_id, place, id)
select id, '*', '00000000-0000-0000-0000-000000000000' from tenants
on conflict do nothing
