-- Each message once, by its event. One that is delivered again may carry an earlier time.
insert into incident_history as known (tenant_id, incident_id, event_id, at, by, change)
select distinct on (h.incident_id, h.event_id) %(tenant)s, h.incident_id, h.event_id, h.at, h.by, h.change
from unnest(%(ids)s::uuid[], %(events)s::text[], %(at)s::timestamptz[], %(by)s::text[], %(changes)s::jsonb[])
     as h (incident_id, event_id, at, by, change)
order by h.incident_id, h.event_id, h.at
on conflict (tenant_id, incident_id, event_id) do update
set at = excluded.at
where excluded.at < known.at
