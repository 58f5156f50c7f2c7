-- The types of those that are assets.
select a.qualified_name, a.entity_type
from unnest(%(ids)s::uuid[]) as given (id)
join assets a on a.tenant_id = %(tenant)s and a.id = given.id
where a.entity_type is not null
