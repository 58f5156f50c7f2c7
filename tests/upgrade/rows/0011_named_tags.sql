-- A policy that names a tag, and a history that was pruned.
insert into policies (tenant_id, key, body, names, version)
select id, 'no-secrets', '{"id": "no-secrets", "name": "No secrets", "subjects": [{"role": "reader"}], "resources": [{"tag": "Secret"}], "actions": ["READ"], "effect": "deny", "priority": 0, "applies_to": ["metadata", "data"]}', '{r:reader,t:secret}', 5
from tenants;
update access_versions set version = 5, compiled = 5, named_tags = '{secret}', history_from = '2026-01-15';
