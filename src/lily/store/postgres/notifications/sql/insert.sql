-- Returns those that are new: the relay publishes at least once.
insert into notifications (tenant_id, notification_id, event_id, at, kind, severity, title, text, incident_id, assets, event,
                           is_muted)
select %(tenant)s, n.id, n.event_id, n.at, n.kind, n.severity, n.title, n.text, n.incident_id, n.assets, n.event, n.muted
from rows from (
       jsonb_to_recordset(%(rows)s) as (
         id uuid, event_id text, at timestamptz, kind text, severity text, title text, text text, incident_id uuid, assets uuid[],
         event jsonb, muted boolean)
     ) with ordinality as n (id, event_id, at, kind, severity, title, text, incident_id, assets, event, muted, place)
order by n.place
on conflict (tenant_id, notification_id) do nothing
returning notification_id::text
