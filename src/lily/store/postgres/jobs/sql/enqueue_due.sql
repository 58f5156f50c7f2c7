-- Queues one job for each schedule that is due, however many times were missed. If two workers do this at once, the second
-- waits for the row and then sees a later `next_at`. A schedule whose last job is still queued is skipped.
with due as (
  update job_schedules
  set next_at = next_at + every * (floor(extract(epoch from clock_timestamp() - next_at) / extract(epoch from every)) + 1)
  where next_at <= clock_timestamp()
  returning tenant_id, name, task, arguments
)
insert into queued_jobs (tenant_id, job_group, task, arguments)
select due.tenant_id, due.name, due.task, due.arguments
from due
where not exists (
  select from queued_jobs waiting
  where waiting.tenant_id = due.tenant_id and waiting.job_group = due.name and waiting.task = due.task
)
returning id
