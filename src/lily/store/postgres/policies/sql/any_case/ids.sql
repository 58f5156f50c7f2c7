-- The assets that have one of these names in any case, and the name that each has.
select n.name, n.id::text, a.qualified_name
from ids_by_name_in_any_case(%(names)s::text[], false) n
join assets a on a.tenant_id = %(tenant)s and a.id = n.id
