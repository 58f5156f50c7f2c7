-- Deleted by its source with authority, restored by a person, and deleted again without authority.
insert into assets (tenant_id, id, qualified_name, source, source_at, "user", user_at, created_at, updated_at)
select id, gen_random_uuid(), 'shop.restored', '{"name": "restored", "$type": "table", "$deleted": true, "$cut": true}',
       '2026-01-01T00:00:00.000000Z/gone', '{"$deleted": true, "$cut": false}', '2026-01-02T00:00:00.000000Z/again',
       '2026-01-01', '2026-01-02'
from tenants;
