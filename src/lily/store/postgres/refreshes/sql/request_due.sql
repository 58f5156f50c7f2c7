-- One run for each schedule that is due and has no unfinished run, however many times were missed. Workers that do this at
-- the same time skip each other's rows, and the unique index refuses a second unfinished run.
with moment as (
  select coalesce(%(now)s::timestamptz, clock_timestamp()) as now
),
due as (
  select s.tenant_id, s.data_source, s.every, s.timeout, s.next_at, moment.now
  from refresh_schedules s, moment
  where s.enabled and s.next_at <= moment.now
    and not exists (
      select from refresh_runs r
      where r.tenant_id = s.tenant_id and r.data_source = s.data_source and r.finished_at is null
    )
  order by s.next_at
  limit %(limit)s
  for update of s skip locked
),
batch as (
  insert into batches (topic) select null where exists (select from due) returning id
),
requested as (
  insert into refresh_runs (tenant_id, run_id, data_source, reason, due_at, requested_at, timeout, deadline, batch_id)
  select due.tenant_id, gen_random_uuid(), due.data_source,
         case when due.now - due.next_at >= due.every then 'catch-up' else 'schedule' end,
         due.next_at, due.now, due.timeout, due.now + due.timeout, batch.id
  from due, batch
  on conflict (tenant_id, data_source) where finished_at is null do nothing
  returning tenant_id, data_source
),
moved as (
  update refresh_schedules s
  set last_requested_at = due.now,
      next_at = due.next_at
        + due.every * (floor(extract(epoch from due.now - due.next_at) / extract(epoch from due.every)) + 1)
  from due
  join requested using (tenant_id, data_source)
  where s.tenant_id = due.tenant_id and s.data_source = due.data_source
)
select tenant_id, data_source, pg_notify('lily_applied', '') from requested
