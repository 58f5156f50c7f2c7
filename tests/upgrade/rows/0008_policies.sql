-- A policy that has changed once, the role and the user that it is about, and a decision that was logged.
insert into policies (tenant_id, key, body, names, version)
select id, 'readers', '{"id": "readers", "name": "Readers", "subjects": [{"role": "reader"}], "resources": [{"asset": "*"}], "actions": ["READ"], "effect": "allow", "priority": 0, "applies_to": ["metadata", "data"]}', '{r:reader}', 4
from tenants;
insert into roles (tenant_id, key, body, version) select id, 'reader', '{"name": "Reader", "inherits": [], "groups": ["bi"]}', 2 from tenants;
insert into users (tenant_id, key, body, names, version) select id, 'ann', '{"name": "Ann", "roles": ["reader"], "groups": []}', '{r:reader}', 3 from tenants;
update access_versions set version = 4, compiled = 4;
insert into access_history (tenant_id, kind, key, version, valid_from, valid_to, body)
select id, 'policy', 'readers', 1, '2026-01-01', '2026-02-01', '{"id": "readers"}' from tenants;
insert into policy_decisions (id, tenant_id, at, by, principal, action, plane, asset_id, effect, policy_id, reason, version)
select gen_random_uuid(), id, '2026-02-01', 'engine', 'ann', 'READ', 'data', gen_random_uuid(), 'allow', 'readers', 'allowed', 4 from tenants;
insert into scraper_policies (tenant_id, key, body, version)
select id, 's', '{"id": "s", "name": "S", "scraper_group": "crm", "sources": ["crm"]}', 4 from tenants;
insert into engine_mappings (tenant_id, key, body, version)
select id, 'm', '{"id": "m", "name": "M", "data_source": "shop", "engine_name": "pg", "asset_name": "shop"}', 4 from tenants;
insert into access_settings (tenant_id, key, body, version) select id, 'settings', '{"unknown_objects": "open"}', 4 from tenants;
