-- The names by which edges named these assets.
select n.id::text, n.qualified_name
from unnest(%(ids)s::uuid[]) as given (id)
cross join lateral (
  select * from named_ends n where n.id = given.id and n.tenant_id = %(tenant)s offset 0
) n
