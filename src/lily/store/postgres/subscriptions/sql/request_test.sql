-- Queues a test of a channel. Only a worker can decrypt its configuration.
with queued as (
  insert into queued_jobs (tenant_id, job_group, task, arguments)
  select %(tenant)s, %(group)s, %(task)s,
         jsonb_build_object('channel', c.key, 'destination', %(destination)s::text, 'request', %(request)s::text)
  from notification_channels c
  where c.tenant_id = %(tenant)s and c.key = %(key)s
  returning id
)
select id, pg_notify('lily_jobs', '') from queued
