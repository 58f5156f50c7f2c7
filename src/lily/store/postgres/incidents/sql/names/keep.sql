insert into incident_names (tenant_id, folded, incident_id, name, source)
select distinct on (n.folded, n.incident_id) %(tenant)s, n.folded, n.incident_id, n.name, n.source
from unnest(%(folded)s::text[], %(ids)s::uuid[], %(names)s::text[], %(sources)s::text[])
     as n (folded, incident_id, name, source)
order by n.folded, n.incident_id, n.name
on conflict do nothing
returning folded
