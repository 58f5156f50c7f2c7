-- Follows a change of a target: queues it for publication, audits it, and queues the run that carries it out.
, batch as (
  insert into batches (published_at) select null from decided returning id
),
{recorded},
queued as (
  insert into queued_jobs (tenant_id, job_group, task, arguments)
  select %(tenant)s, %(group)s, %(task)s, jsonb_build_object('target', %(key)s::text) || %(arguments)s::jsonb from decided
)
select decided.name, pg_notify('lily_jobs', ''), pg_notify('lily_applied', '') from decided
