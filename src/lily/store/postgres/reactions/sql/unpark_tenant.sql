-- Moves the tenant to the end of the queue, or removes it if it has no parked events left.
with left_over as (
  select t.reaction, t.tenant_id,
         exists (select from parked_events e where e.reaction = t.reaction and e.tenant_id = t.tenant_id) as any
  from parked_tenants t
  where t.reaction = %s and t.tenant_id = %s
),
gone as (
  delete from parked_tenants t using left_over l
  where t.reaction = l.reaction and t.tenant_id = l.tenant_id and not l.any
)
update parked_tenants t set attempts = 0, reason = '', unfinished = null, drained_at = clock_timestamp()
from left_over l
where t.reaction = l.reaction and t.tenant_id = l.tenant_id and l.any
