-- All derived attributes of a tenant.
select rule, attribute, asset_id::text, item, value, via::text, depth
from derived_attributes
where tenant_id = %(tenant)s
