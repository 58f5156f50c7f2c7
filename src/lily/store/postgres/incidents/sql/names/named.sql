-- The assets that have one of these names in any case. Without `offset 0` the planner may scan the tenant's names.
select n.place, a.id::text
from unnest(%(places)s::integer[], %(names)s::text[]) as n (place, name)
cross join lateral (
  select s.id from assets s
  where s.tenant_id = %(tenant)s and lower(s.qualified_name) = lower(n.name collate "C")
  offset 0
) a
