-- An asset whose name has other letters than ASCII's.
insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at)
select id, gen_random_uuid(), 'shop.ÄPFEL', '{"name": "ÄPFEL", "$type": "table", "$deleted": false}',
       '2026-01-01T00:00:00.000000Z/apples', '2026-01-01', '2026-01-01'
from tenants;
