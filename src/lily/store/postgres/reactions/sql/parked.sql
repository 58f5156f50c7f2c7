select e.id, e.topic, e.partition, e."offset", e.key, e.value
from parked_tenants t
join parked_events e on e.reaction = t.reaction and e.tenant_id = t.tenant_id
where t.reaction = %s and t.tenant_id = %s and t.retry_at <= clock_timestamp()
order by e.id
limit %s
