-- All values that a rule derived.
select asset_id::text, attribute, item, stated
from derived_attributes
where tenant_id || '/' || rule = %(tenant)s || '/' || %(rule)s
