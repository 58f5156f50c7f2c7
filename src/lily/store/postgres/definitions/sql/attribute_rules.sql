-- The tenant's propagation rules for attributes.
select key, name, attribute, mode, direction, max_depth, edge_types
from propagation_rules
where tenant_id = %(tenant)s
order by key
