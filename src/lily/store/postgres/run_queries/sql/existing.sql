-- The tables that are assets.
select t.name
from unnest(%(names)s::text[], %(ids)s::uuid[]) as t (name, id)
join assets a on a.tenant_id = %(tenant)s and a.id = t.id
