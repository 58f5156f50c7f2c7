-- The receipts of one notification, or those of it for one subscription.
select jsonb_build_object(
         'id', d.delivery_id, 'subscription', d.subscription_id, 'channel', d.channel, 'destination', d.destination,
         'state', d.state, 'reason', d.reason, 'attempts', d.attempts, 'receiver_id', d.receiver_id, 'error', d.error,
         'sent_with', d.lead, 'due_at', utc_stamp(d.due_at), 'attempted_at', utc_stamp(d.attempted_at),
         'delivered_at', utc_stamp(d.delivered_at), 'paused_until', utc_stamp(t.paused_until))
from deliveries d
left join delivery_targets t on t.tenant_id = %(tenant)s and t.target = d.target and d.state in ('waiting', 'held')
where d.tenant_id = %(tenant)s and d.notification_id = %(notification)s
  and (%(subscription)s::uuid is null or d.subscription_id = %(subscription)s)
order by d.created_at, d.delivery_id
