-- One page of a list, sorted by {key}. The id breaks ties, so the order is total and pages do not overlap.
with page as materialized (
  select {columns}, {key} as sorted_by
  from {assets}
  where tenant_id = %(tenant)s and {conditions}
  order by {key} {direction}, assets.id {direction}
  limit %(limit)s
)
select page.*, r.propagated, r.inherited, r.incidents
from page
left join reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, (select array_agg(asset_id) from page), (select array_agg(parent_id) from page),
  p_risks => true
) r on r.asset_id = page.asset_id
order by page.sorted_by {direction}, page.asset_id {direction}
