-- One page of a list. {key} is what it is sorted by; the id breaks ties, so every asset has exactly one place.
select {columns}, {key}
from assets
where tenant_id = %(tenant)s and {conditions}
order by {key} {direction}, assets.id {direction}
limit %(limit)s
