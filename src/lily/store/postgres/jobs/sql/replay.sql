-- Queues dead letters of jobs again, with their old ids, and marks them as replayed in the same statement, because one may
-- fail again at once.
with letters as (
  select "offset" as id, convert_from(original, 'UTF8')::jsonb as job
  from dead_letters
  where tenant_id = %(tenant)s and topic = %(topic)s and id = any(%(ids)s::bigint[])
  order by id
),
marked as (
  update dead_letters set replayed_at = clock_timestamp()
  where tenant_id = %(tenant)s and topic = %(topic)s and id = any(%(ids)s::bigint[])
)
insert into queued_jobs (id, tenant_id, job_group, task, arguments)
select id, %(tenant)s, job ->> 'group', job ->> 'task', job -> 'arguments' from letters
on conflict (id) do nothing
returning id, pg_notify('lily_jobs', '')
