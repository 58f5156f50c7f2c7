-- Assets with their derived tags and the incidents that put them at risk, in one round trip.
with found as materialized (
  select {columns}
  from assets
  where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])
)
select found.*, r.propagated, r.inherited, r.incidents
from found
left join reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, (select array_agg(asset_id) from found), (select array_agg(parent_id) from found),
  p_risks => true
) r on r.asset_id = found.asset_id
