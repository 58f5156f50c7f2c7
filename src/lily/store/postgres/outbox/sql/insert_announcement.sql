-- An event that the log delivers again is announced once.
with batch as (
  insert into batches (topic)
  select null
  where not exists (select from announcements where tenant_id = %(tenant)s and event_id = %(event)s)
  returning id
)
insert into announcements (batch_id, tenant_id, event_id, body)
select id, %(tenant)s, %(event)s, %(body)s from batch
