-- What receivers returned for the first notification about each of these incidents at a destination.
select distinct on (incident_id) incident_id::text, receiver_id
from deliveries
where tenant_id = %(tenant)s and target = %(target)s and incident_id = any (%(incidents)s::uuid[]) and receiver_id <> ''
order by incident_id, delivered_at
