-- The deliveries of a job that are still to be sent, what is sent together with them, and what each is about.
select d.delivery_id::text, d.lead::text, d.notification_id::text, d.subscription_id::text, d.kind, d.state, d.assets::text[],
       d.owners, d.attempts, extract(epoch from clock_timestamp() - d.due_at)::float8, n.event, s.body,
       coalesce(s.is_enabled, false)
from deliveries d
join notifications n on n.tenant_id = %(tenant)s and n.notification_id = d.notification_id
left join subscriptions s on s.tenant_id = %(tenant)s and s.id = d.subscription_id
where d.tenant_id = %(tenant)s
  and (d.delivery_id = any (%(ids)s::uuid[]) and d.state in ('waiting', 'held', 'failed')
       or d.lead = any (%(ids)s::uuid[]) and d.state in ('grouped', 'failed'))
order by n.position
