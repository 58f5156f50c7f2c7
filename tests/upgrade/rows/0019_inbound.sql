-- A source that is read by a mapping, and a user whom a directory disabled.
insert into webhook_mappings (tenant_id, name, body) select id, 'soda', '{"name": "soda"}' from tenants;
insert into directory_states (tenant_id, source, user_name, subject, holds, at, event_id)
select id, 'okta', 'zoe', '', false, '2026-02-01', 'event-1' from tenants;
insert into disabled_users (tenant_id, user_name, disabled_by) select id, 'zoe', 'okta' from tenants;
