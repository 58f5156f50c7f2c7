-- One job per tenant looks for assets with these names.
insert into queued_jobs (tenant_id, job_group, task, run_at)
select %(tenant)s, %(task)s, %(task)s, clock_timestamp() + make_interval(secs => %(seconds)s)
where not exists (
  select from queued_jobs where tenant_id = %(tenant)s and job_group = %(task)s and id is distinct from %(but)s::bigint)
returning pg_notify('lily_jobs', '')
