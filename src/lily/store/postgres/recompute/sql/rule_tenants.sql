-- The tenants that have or had attribute rules, with their `on_delete` setting.
select t.id, t.on_delete
from tenants t
where t.id in (select tenant_id from propagation_rules union select tenant_id from derived_attributes)
order by t.id
