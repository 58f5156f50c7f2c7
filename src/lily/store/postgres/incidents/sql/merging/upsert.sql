insert into incidents as known
       (tenant_id, incident_id, source, external_id, state, severity, title, description, url, kind, owner, series, fields,
        opened_at, acknowledged_at, resolved_at)
select %(tenant)s, s.incident_id, s.source, s.external_id, s.state, s.severity, s.title, s.description, s.url, s.kind, s.owner,
       s.series, s.fields, s.opened_at, s.acknowledged_at, s.resolved_at
from jsonb_to_recordset(%(rows)s) as s (
  incident_id uuid, source text, external_id text, state text, severity text, title text, description text, url text,
  kind text, owner text, series text, fields jsonb, opened_at timestamptz, acknowledged_at timestamptz,
  resolved_at timestamptz)
on conflict (tenant_id, incident_id) do update
set state = excluded.state, severity = excluded.severity, title = excluded.title, description = excluded.description,
    url = excluded.url, kind = excluded.kind, owner = excluded.owner, series = excluded.series, fields = excluded.fields,
    opened_at = excluded.opened_at, acknowledged_at = excluded.acknowledged_at, resolved_at = excluded.resolved_at,
    updated_at = clock_timestamp()
