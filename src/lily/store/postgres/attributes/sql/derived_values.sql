-- The values that a rule derived for these assets.
select asset_id::text, item, value, via::text, depth, stated
from derived_attributes
where asset_id = any (%(ids)s::uuid[]) and rule = %(rule)s and attribute = %(attribute)s and tenant_id = %(tenant)s
