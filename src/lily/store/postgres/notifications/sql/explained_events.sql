-- The notifications of an event: by their id, by that of the event or by that of an incident, newest first.
select n.notification_id::text, n.event
from notifications n
where n.tenant_id = %(tenant)s
  and (n.notification_id = %(id)s::uuid or n.incident_id = %(id)s::uuid or n.notification_id = %(of_event)s::uuid)
order by n.position desc
limit %(limit)s
