select event_id, at, by, change
from incident_history
where tenant_id = %(tenant)s and incident_id = %(id)s::uuid
order by at desc, event_id desc
limit %(limit)s
