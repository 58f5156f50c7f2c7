-- The bulk lane has stated columns of a table.
insert into lake_parents (tenant_id, place, id) select id, '0a1b', gen_random_uuid() from tenants;
