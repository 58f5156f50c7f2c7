-- Queues a run of a target, or a plan. A run calls a target again that had refused for good.
with resumed as (
  update enforcement_targets t set is_stopped = false
  where t.tenant_id = %(tenant)s and t.key = %(key)s and t.is_stopped and %(plan)s::text is null
),
queued as (
  insert into queued_jobs (tenant_id, job_group, task, arguments)
  select %(tenant)s, %(group)s, %(task)s,
         jsonb_strip_nulls(jsonb_build_object('target', t.key, 'plan', %(plan)s::text, 'script', %(script)s::text))
  from enforcement_targets t
  where t.tenant_id = %(tenant)s and t.key = %(key)s and not t.is_removed
  returning id
)
select utc_stamp(clock_timestamp()), pg_notify('lily_jobs', '') from queued
