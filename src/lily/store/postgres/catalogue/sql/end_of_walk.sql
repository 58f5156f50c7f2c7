-- Where a page ends that looked at as many assets as it may; no row if there were not so many.
select assets.walked_by, assets.id::text
from {assets}
order by {key} {direction}, assets.id {direction}
offset %(most)s - 1 limit 1
