-- What receivers returned for the first notification about each of these incidents at a destination.
select distinct on (d.incident_id) d.incident_id::text, d.receiver_id
from deliveries d
join notifications n on n.tenant_id = %(tenant)s and n.notification_id = d.notification_id
where d.tenant_id = %(tenant)s and d.target = %(target)s and d.incident_id = any (%(incidents)s::uuid[])
  and d.receiver_id <> ''
order by d.incident_id, n.position
