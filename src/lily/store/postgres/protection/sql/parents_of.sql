-- The parents from which an asset inherits: the one that is shown, and those that are held.
select p.id
from assets a cross join lateral (
  select a.parent where a.parent is not null union select h.parent::text from unnest(a.held_parents) as h (parent)
) as p (id)
where a.tenant_id = %(tenant)s and a.id = %(id)s::uuid
