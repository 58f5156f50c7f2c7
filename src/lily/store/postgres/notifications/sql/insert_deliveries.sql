insert into deliveries (tenant_id, delivery_id, notification_id, subscription_id, channel, destination, target, kind, state,
                        reason, assets, owners, incident_id, is_lead, lead, due_at)
select %(tenant)s, d.id, d.notification, d.subscription, d.channel, d.destination, d.target, d.kind, d.state, d.reason,
       d.assets::uuid[], d.owners::text[], d.incident_id, d.is_lead, d.lead, coalesce(d.due_at, clock_timestamp())
from unnest(%(ids)s::uuid[], %(notifications)s::uuid[], %(subscriptions)s::uuid[], %(channels)s::text[],
            %(destinations)s::text[], %(targets)s::text[], %(kinds)s::text[], %(states)s::text[], %(reasons)s::text[],
            %(assets)s::text[], %(owners)s::text[], %(incidents)s::uuid[], %(is_lead)s::boolean[], %(leads)s::uuid[],
            %(due)s::timestamptz[])
     as d (id, notification, subscription, channel, destination, target, kind, state, reason, assets, owners, incident_id,
           is_lead, lead, due_at)
on conflict (tenant_id, delivery_id) do nothing
