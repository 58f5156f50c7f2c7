-- One batch for all. An event that the log delivers again is announced once.
with fresh as (
  select a.event, a.body, a.place
  from unnest(%(events)s::text[], %(bodies)s::jsonb[]) with ordinality as a (event, body, place)
  where not exists (select from announcements where tenant_id = %(tenant)s and event_id = a.event)
),
batch as (
  insert into batches (topic) select null where exists (select from fresh) returning id
)
insert into announcements (batch_id, tenant_id, event_id, body)
select batch.id, %(tenant)s, fresh.event, fresh.body from batch, fresh order by fresh.place
