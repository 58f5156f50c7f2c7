-- The tenants of which rules derive attributes, or once did, with what deletion means there.
select t.id, t.on_delete
from tenants t
where t.id in (select tenant_id from propagation_rules union select tenant_id from derived_attributes)
order by t.id
