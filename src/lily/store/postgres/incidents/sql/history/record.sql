-- Each message once, by its event. One that is delivered again may carry an earlier time.
insert into incident_history as known (tenant_id, incident_id, event_id, at, by, change)
select distinct on (h.incident_id, h.event_id) %(tenant)s, h.incident_id, h.event_id, h.at, h.by, h.change
from jsonb_to_recordset(%(rows)s) as h (incident_id uuid, event_id text, at timestamptz, by text, change jsonb)
order by h.incident_id, h.event_id, h.at
on conflict (tenant_id, incident_id, event_id) do update
set at = excluded.at
where excluded.at < known.at
