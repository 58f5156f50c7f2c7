insert into deliveries (tenant_id, delivery_id, notification_id, subscription_id, channel, destination, target, kind, state,
                        reason, assets, owners, incident_id, is_lead, lead, due_at)
select %(tenant)s, d.id, d.notification, d.subscription, d.channel, d.destination, d.target, d.kind, d.state, d.reason,
       d.assets, d.owners, d.incident_id, d.is_lead, d.lead, coalesce(d.due_at, clock_timestamp())
from jsonb_to_recordset(%(rows)s) as d (
  id uuid, notification uuid, subscription uuid, channel text, destination text, target text, kind text, state text, reason text,
  assets uuid[], owners text[], incident_id uuid, is_lead boolean, lead uuid, due_at timestamptz)
on conflict (tenant_id, delivery_id) do nothing
