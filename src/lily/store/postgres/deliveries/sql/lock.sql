-- From then on no other delivery joins them; what joined before is seen by the next statement. One look-up by id for each,
-- whatever the planner knows of a table that grows fast.
select d.delivery_id
from unnest(%(ids)s::uuid[]) as wanted (id)
cross join lateral (
  select delivery_id from deliveries
  where tenant_id = %(tenant)s and delivery_id = wanted.id and state in ('waiting', 'held', 'failed')
  for update
) as d
