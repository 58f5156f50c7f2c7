-- A data source that is refreshed, and a run that a scraper has taken.
insert into refresh_schedules (tenant_id, data_source, first_seen, is_configured, next_at)
select id, 'warehouse', '2026-02-01', true, '2026-02-02' from tenants;
insert into refresh_runs (tenant_id, run_id, data_source, state, reason, due_at, requested_at, timeout, deadline, batch_id,
                          started_at, scraper)
select id, gen_random_uuid(), 'warehouse', 'running', 'schedule', '2026-02-01', '2026-02-01', '4 hours', '2026-02-01 04:00', 1,
       '2026-02-01 00:01', 'scraper-1'
from tenants;
