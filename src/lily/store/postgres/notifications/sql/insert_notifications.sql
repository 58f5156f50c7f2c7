-- Returns those that are new: the relay publishes at least once.
insert into notifications (tenant_id, notification_id, event_id, at, kind, severity, title, text, incident_id, assets, event,
                           is_muted)
select %(tenant)s, n.id, n.event_id, n.at, n.kind, n.severity, n.title, n.text, n.incident_id, n.assets::uuid[], n.event, n.muted
from unnest(%(ids)s::uuid[], %(event_ids)s::text[], %(at)s::timestamptz[], %(kinds)s::text[], %(severities)s::text[],
            %(titles)s::text[], %(texts)s::text[], %(incidents)s::uuid[], %(assets)s::text[], %(events)s::jsonb[],
            %(muted)s::boolean[])
     with ordinality as n (id, event_id, at, kind, severity, title, text, incident_id, assets, event, muted, place)
order by n.place
on conflict (tenant_id, notification_id) do nothing
returning notification_id::text
