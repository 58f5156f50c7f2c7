-- Those of the ids that an edge leads to or from. Each is looked up by itself: the planner would otherwise read all edges.
select q.id::text
from unnest(%(ids)s::uuid[]) as q (id)
cross join lateral (
  (select from edges i where i.tenant_id = %(tenant)s and i.to_id = q.id limit 1)
  union all
  (select from edges o where o.tenant_id = %(tenant)s and o.from_id = q.id limit 1)
  limit 1
) e
