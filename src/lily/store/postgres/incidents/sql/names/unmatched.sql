select folded, incident_id::text, name, source, extract(epoch from clock_timestamp() - since)::double precision
from incident_names
where tenant_id = %(tenant)s and (folded, incident_id) > (%(folded)s, %(incident)s::uuid)
order by folded, incident_id
limit %(limit)s
