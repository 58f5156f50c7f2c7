select p.source, p.series, p.passed_at
from unnest(%(sources)s::text[], %(series)s::text[]) as s (source, series)
join incident_passes p on p.tenant_id = %(tenant)s and p.source = s.source and p.series = s.series
