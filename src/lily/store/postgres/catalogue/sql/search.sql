-- One page of a list, sorted by {key}. The id breaks ties, so the order is total and pages do not overlap.
with asked as materialized (
  select {columns}, {key} as sorted_by
  from assets
  where tenant_id = %(tenant)s and {conditions}
  order by {key} {direction}, assets.id {direction}
  limit %(limit)s
)
select asked.*, r.propagated, r.inherited
from asked
left join reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, (select array_agg(asset_id) from asked), (select array_agg(parent_id) from asked)
) r on r.asset_id = asked.asset_id
order by asked.sorted_by {direction}, asked.asset_id {direction}
