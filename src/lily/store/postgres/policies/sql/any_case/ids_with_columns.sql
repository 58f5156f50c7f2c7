-- The assets that have one of these names in any case, the name that each has, and whether it has columns that only the lake
-- has. Of tables, that is of no interest: whatever is below one is a column. Columns have none.
select n.name, n.id::text, a.qualified_name,
       not coalesce(a.entity_type = any (%(settled)s::text[]), false)
       and has_lake_columns(%(tenant)s, a.id, a.qualified_name)
from ids_by_name_in_any_case(%(names)s::text[], false) n
join assets a on a.tenant_id = %(tenant)s and a.id = n.id
