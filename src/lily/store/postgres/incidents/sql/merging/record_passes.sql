insert into incident_passes as known (tenant_id, source, series, passed_at)
select %(tenant)s, p.source, p.series, max(p.passed_at)
from unnest(%(sources)s::text[], %(series)s::text[], %(passed)s::timestamptz[]) as p (source, series, passed_at)
group by p.source, p.series
on conflict (tenant_id, source, series) do update
set passed_at = excluded.passed_at
where excluded.passed_at > known.passed_at
