-- Queues one job for each schedule that is due, however many times were missed. A schedule that is locked is left for the
-- next look: by another worker that does this too, or by a job of its tenant that registers it and then takes minutes. A
-- schedule whose last job is still queued is skipped.
with free as (
  select tenant_id, name from job_schedules where next_at <= clock_timestamp() for update skip locked
),
due as (
  update job_schedules s
  set next_at = next_at + every * (floor(extract(epoch from clock_timestamp() - next_at) / extract(epoch from every)) + 1)
  from free
  where s.tenant_id = free.tenant_id and s.name = free.name
  returning s.tenant_id, s.name, s.task, s.arguments
)
insert into queued_jobs (tenant_id, job_group, task, arguments)
select due.tenant_id, due.name, due.task, due.arguments
from due
where not exists (
  select from queued_jobs waiting
  where waiting.tenant_id = due.tenant_id and waiting.job_group = due.name and waiting.task = due.task
)
returning id
