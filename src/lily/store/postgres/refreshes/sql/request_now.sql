-- A run that a person requests, unless one is not finished. Returns whether there is such a schedule, and the run that is
-- not finished afterwards. Sent twice, it does the same.
with schedule as (
  select data_source, timeout, coalesce(%(now)s::timestamptz, clock_timestamp()) as now
  from refresh_schedules
  where tenant_id = %(tenant)s and data_source = %(data_source)s
),
batch as (
  insert into batches (topic) select null from schedule returning id
),
requested as (
  insert into refresh_runs (tenant_id, run_id, data_source, reason, due_at, requested_at, requested_by, timeout, deadline,
                            batch_id)
  select %(tenant)s, %(run)s::uuid, s.data_source, 'manual', s.now, s.now, %(by)s, s.timeout, s.now + s.timeout, batch.id
  from schedule s, batch
  on conflict (tenant_id, data_source) where finished_at is null do nothing
  returning run_id
),
moved as (
  update refresh_schedules s set last_requested_at = schedule.now from requested, schedule
  where s.tenant_id = %(tenant)s and s.data_source = %(data_source)s
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, 'refresh.requested', %(data_source)s, jsonb_build_object('run_id', run_id) from requested
)
select coalesce((select run_id from requested), (
         select run_id from refresh_runs
         where tenant_id = %(tenant)s and data_source = %(data_source)s and finished_at is null
       ))::text,
       pg_notify('lily_applied', '')
from schedule
