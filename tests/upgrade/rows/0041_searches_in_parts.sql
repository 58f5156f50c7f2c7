-- A deleted asset, which the index of the walk leaves out.
insert into assets (tenant_id, id, qualified_name, source, source_at, version, created_at, updated_at)
select id, gen_random_uuid(), 'shop.walked', '{"name": "walked", "$type": "table", "$deleted": true}',
       '2026-01-10T00:00:00.000000Z/walked', 1, '2026-01-10', '2026-01-10'
from tenants;
