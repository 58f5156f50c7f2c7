-- Usage that was counted, a policy that watches it, and what it found.
insert into usage_days (tenant_id, asset_id, day, queries) select id, gen_random_uuid(), '2026-02-01', 42 from tenants;
insert into usage_event_ids (tenant_id, asset_id, event_id) select id, gen_random_uuid(), 'hour-1' from tenants;
insert into usage_reports (tenant_id, first_day, last_day) select id, '2026-01-01', '2026-02-01' from tenants;
insert into quality_policies (tenant_id, key, asset_id, policy_type, body, delay_hours)
select id, 'spike', null, 'query_spike', '{"id": "spike"}', 1 from tenants;
insert into quality_findings (tenant_id, finding_id, policy, asset_id, cause, policy_type, severity, title, is_silent)
select id, gen_random_uuid(), 'spike', gen_random_uuid(), 'spike', 'query_spike', 'warning', 'orders: 42 queries', false
from tenants;
with batch as (insert into batches (topic) values (null) returning id)
insert into incident_statements (batch_id, tenant_id, body)
select batch.id, t.id, '{"source": "quality", "external_id": "1", "state": "open", "rank": 0}' from batch, tenants t;
