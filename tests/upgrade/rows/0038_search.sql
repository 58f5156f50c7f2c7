-- Described, with business terms, by a source and by a person.
insert into assets (tenant_id, id, qualified_name, source, source_at, "user", user_at, version, created_at, updated_at)
select id, gen_random_uuid(), 'shop.described',
       '{"name": "described", "$type": "table", "$deleted": false, "description": "One row an order, as of 2026-01-01"}',
       '2026-01-10T00:00:00.000000Z/described', '{"business_terms": ["Revenue"]}', '2026-01-10T00:00:00.000000Z/person', 2,
       '2026-01-10', '2026-01-10'
from tenants;
