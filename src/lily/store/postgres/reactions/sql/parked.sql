select id, topic, partition, "offset", key, value
from (
  select e.*, t.unfinished, row_number() over (order by e.id) as number
  from parked_tenants t
  join parked_events e on e.reaction = t.reaction and e.tenant_id = t.tenant_id
  where t.reaction = %s and t.tenant_id = %s and t.retry_at <= clock_timestamp()
  order by e.id
  limit %s
) e
where number <= coalesce(unfinished, number)
order by id
