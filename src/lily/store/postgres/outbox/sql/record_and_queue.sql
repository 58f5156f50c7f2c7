-- Follows a change that a job carries out, as `decided`: queues it for publication, audits it, and queues the job.
, batch as (
  insert into batches (published_at) select null from decided returning id
),
{recorded},
queued as (
  insert into queued_jobs (tenant_id, job_group, task, arguments)
  select %(tenant)s, %(group)s, %(task)s, %(arguments)s::jsonb from decided
)
select decided.name, pg_notify('lily_jobs', ''), pg_notify('lily_applied', '') from decided
