-- An asset whose source has not stated a type, which the index of types may leave out.
insert into assets (tenant_id, id, qualified_name, "user", user_at, version, created_at, updated_at)
select id, gen_random_uuid(), 'shop.untyped', '{"description": "Not crawled yet."}',
       '2026-01-11T00:00:00.000000Z/ada', 1, '2026-01-11', '2026-01-11'
from tenants;
