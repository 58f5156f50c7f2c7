-- Assets with their derived tags, in one round trip.
with asked as materialized (
  select {columns}
  from assets
  where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])
)
select asked.*, r.propagated, r.inherited
from asked
left join reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, (select array_agg(asset_id) from asked), (select array_agg(parent_id) from asked)
) r on r.asset_id = asked.asset_id
