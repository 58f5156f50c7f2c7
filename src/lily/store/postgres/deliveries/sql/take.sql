-- The deliveries of a job that are still to be sent, what is sent together with them, and what each is about. Each is looked up
-- by its id, whatever the planner knows of tables that grow fast. One that failed is sent again only by a job that was queued
-- since: a replay.
select d.delivery_id::text, d.lead::text, d.notification_id::text, d.subscription_id::text, d.kind, d.state, d.assets::text[],
       d.owners, d.attempts, extract(epoch from clock_timestamp() - d.due_at)::float8, n.event, s.body,
       coalesce(s.is_enabled, false)
from unnest(%(ids)s::uuid[]) as wanted (id)
cross join lateral (
  select * from deliveries
  where tenant_id = %(tenant)s and delivery_id = wanted.id
    and (state in ('waiting', 'held') or state = 'failed' and attempted_at < %(queued_at)s)
  union all
  select * from deliveries
  where tenant_id = %(tenant)s and lead = wanted.id and delivery_id <> all (%(ids)s::uuid[])
    and (state = 'grouped' or state = 'failed' and attempted_at < %(queued_at)s)
) as d
cross join lateral (
  select event, position from notifications where tenant_id = %(tenant)s and notification_id = d.notification_id
  offset 0
) as n
left join subscriptions s on s.tenant_id = %(tenant)s and s.id = d.subscription_id
order by n.position
