(
  select assets.*, {key} as walked_by from assets where tenant_id = %(tenant)s and {conditions}
  order by {key} {direction}, assets.id {direction} limit %(most)s
) as assets
