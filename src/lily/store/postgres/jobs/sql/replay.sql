-- Queues dead letters of jobs again, with their old ids, and marks them as replayed in the same statement, because one may
-- fail again at once. A letter that is replayed already is left out, so of concurrent calls one replays each.
with free as (
  select id
  from dead_letters
  where tenant_id = %(tenant)s and topic = %(topic)s and id = any(%(ids)s::bigint[]) and replayed_at is null
  for update skip locked
),
letters as (
  update dead_letters d set replayed_at = clock_timestamp()
  from free
  where d.tenant_id = %(tenant)s and d.id = free.id
  returning d.id, d."offset" as job_id, convert_from(d.original, 'UTF8')::jsonb as job
),
queued as (
  insert into queued_jobs (id, tenant_id, job_group, task, arguments)
  select job_id, %(tenant)s, job ->> 'group', job ->> 'task', job -> 'arguments' from letters order by id
  on conflict (id) do nothing
)
select id, pg_notify('lily_jobs', '') from letters order by id
