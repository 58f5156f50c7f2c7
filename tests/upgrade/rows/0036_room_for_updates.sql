-- Stated again and again.
insert into assets (tenant_id, id, qualified_name, source, source_at, version, created_at, updated_at)
select id, gen_random_uuid(), 'shop.restated', '{"name": "restated", "$type": "table", "$deleted": false}',
       '2026-01-09T00:00:00.000000Z/again', 9, '2026-01-01', '2026-01-09'
from tenants;
