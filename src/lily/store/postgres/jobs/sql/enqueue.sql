insert into queued_jobs (tenant_id, job_group, task, arguments, run_at)
select %(tenant)s, job_group, task, arguments, coalesce(run_at, clock_timestamp())
from unnest(%(groups)s::text[], %(tasks)s::text[], %(arguments)s::jsonb[], %(run_at)s::timestamptz[])
     with ordinality as job(job_group, task, arguments, run_at, position)
order by position
returning id, pg_notify('lily_jobs', '')
