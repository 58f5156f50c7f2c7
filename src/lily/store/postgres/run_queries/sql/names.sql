-- The qualified names of datasets that are assets.
select a.id::text, a.qualified_name
from unnest(%(ids)s::uuid[]) as given (id)
join assets a on a.tenant_id = %(tenant)s and a.id = given.id
