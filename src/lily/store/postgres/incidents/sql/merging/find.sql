-- The incidents with these ids, and those of series that have passed since they were opened.
select i.incident_id::text, i.source, i.external_id, i.state, i.opened_at, i.acknowledged_at, i.resolved_at, i.fields, i.series
from incidents i
where i.tenant_id = %(tenant)s and i.incident_id = any (%(ids)s::uuid[])
union all
select i.incident_id::text, i.source, i.external_id, i.state, i.opened_at, i.acknowledged_at, i.resolved_at, i.fields, i.series
from unnest(%(sources)s::text[], %(series)s::text[], %(passed)s::timestamptz[]) as p (source, series, passed_at)
join incidents i on i.tenant_id = %(tenant)s and i.source = p.source and i.series = p.series and i.series <> ''
where i.opened_at < p.passed_at and (i.resolved_at is null or i.resolved_at > p.passed_at)
  and i.incident_id <> all (%(ids)s::uuid[])
