-- Two tenants with assets of the same names; the owner of an asset tells whose it is.
create temporary table known (tenant_id text, person text, name text, id uuid);
insert into known values
  ('north', 'ada', 'shop', 'a495a495-edec-8544-b820-db7ca7b67024'),
  ('north', 'ada', 'shop.customers', 'a495bebc-bc00-8383-9244-98159e65103f'),
  ('north', 'ada', 'shop.newsletter', 'a495a6fd-f7b5-8d94-a65d-70051cf5de60'),
  ('north', 'ada', 'shop.stats', 'a495018b-981f-8aee-9ec3-c1f69f4cf377'),
  ('north', 'ada', 'shop.old', 'a495fb26-3415-86e2-ac36-c64f3c3ed9c2'),
  ('north', 'ada', 'shop.customers.email', 'bebc5686-4d44-8f1d-8036-b4c568686f21'),
  ('south', 'bob', 'shop', 'c1a3c1a3-601a-8828-b4c3-3442a9abe9e8'),
  ('south', 'bob', 'shop.customers', 'c1a3d88f-b4a2-8869-abe9-71c8cb0a4903'),
  ('south', 'bob', 'shop.newsletter', 'c1a35570-69c2-8665-87b0-619151ed7d53'),
  ('south', 'bob', 'shop.stats', 'c1a3db81-e930-8253-a29f-cb9c94a99d50'),
  ('south', 'bob', 'shop.old', 'c1a33092-b560-8da7-9e39-054d189891cc'),
  ('south', 'bob', 'shop.customers.email', 'd88f4cb2-0d4a-81b6-b072-d9b325a70707');

insert into tenants (id) values ('north'), ('south');
insert into tokens (tenant_id, hash, scopes, user_name)
select id, sha256(('lily_' || id)::bytea), '{metadata:read}', 'tester' from tenants;
insert into tickets (hash, tenant_id, token_id, expires_at)
select sha256(('ticket_' || tenant_id)::bytea), tenant_id, id, '2100-01-01' from tokens;
insert into secrets (tenant_id, name, wrapped_key, sealed) select id, 'webhook', '\x0102', '\x0304' from tenants;
insert into audit (tenant_id, principal, action, entity, detail)
select id, 'tester', 'token.created', 'tester', '{"scopes": ["metadata:read"]}' from tenants;

insert into batches (published_at) values (null), (now());
insert into applied (topic, partition, next_offset) values ('asset-ingestion-events', 0, 10);
insert into dead_letters (batch_id, tenant_id, topic, partition, "offset", original, errors)
select 1, id, 'asset-ingestion-events', 0, row_number() over (order by id), '{}', '[{"code": "INVALID", "description": "", "entity": ""}]'
from tenants;

-- One table that a source tagged, one that a person tagged and a job described, one plain, one that a person deleted.
insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at)
select k.tenant_id, k.id, k.name,
       jsonb_build_object('name', k.name, '$type', 'table', '$deleted', false)
         || case k.name when 'shop' then '{"$type": "schema"}'
                        else jsonb_build_object('parent', 'shop', '$parent', shop.id) end
         || case k.name when 'shop.customers' then jsonb_build_object('tags', '{"pii": "PII"}'::jsonb, 'owner', k.person)
                        else '{}' end,
       '2026-01-01T00:00:00.000000Z/' || k.name, '2026-01-01 00:00:00Z', '2026-01-01 00:00:00Z'
from known k join known shop on shop.tenant_id = k.tenant_id and shop.name = 'shop'
where k.name <> 'shop.customers.email';
update assets
set "user" = '{"tags": {"finance": "Finance"}}', user_at = '2026-01-02T00:00:00.000000Z/tagged',
    enriched = '{"description": "weekly"}', enriched_at = '2026-01-02T00:00:00.000000Z/described',
    version = 3, updated_at = '2026-01-02 00:00:00Z'
where qualified_name = 'shop.newsletter';
update assets
set "user" = '{"$deleted": true}', user_at = '2026-01-02T00:00:00.000000Z/deleted', version = 2, updated_at = '2026-01-02 00:00:00Z'
where qualified_name = 'shop.old';

insert into changes (batch_id, tenant_id, asset_id, qualified_name, entity_type, layer, version, after, causes)
select 1, tenant_id, id, qualified_name, entity_type, 'source', 1, source,
       jsonb_build_array(jsonb_build_object('id', qualified_name, 'time', '2026-01-01T00:00:00.000000Z', 'by', 'crawler'))
from assets;
