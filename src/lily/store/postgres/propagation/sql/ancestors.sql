-- The ancestors of an asset, its parent first, with their own tags and the parents that they have beside the next one, because
-- these are held. Ancestors that only the lake has are found if they are in the graph.
with recursive above (id, parent, level) as (
  select given.id, coalesce(a.parent::uuid, g.parent), 1
  from (values (%(parent)s::uuid)) as given (id)
  left join assets a on a.tenant_id = %(tenant)s and a.id = given.id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = given.id and a.id is null
  union all
  select u.parent, coalesce(a.parent::uuid, g.parent), u.level + 1
  from above u
  left join assets a on a.tenant_id = %(tenant)s and a.id = u.parent
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = u.parent and a.id is null
  where u.parent is not null and u.level < 64
)
select u.id::text, coalesce(a.stated, '{}'), coalesce(a.suppressed, '{}'), coalesce(a.is_cut, false),
       array(select d.tag from derived_tags d
             where d.tenant_id = %(tenant)s and d.tag = any (%(tags)s::text[]) and d.asset_id = u.id
               and d.kind = 'propagated'),
       coalesce(a.held, '{}'), array(select h.parent::text from held_parents_of(%(tenant)s, u.id) h)
from above u left join assets a on a.tenant_id = %(tenant)s and a.id = u.id
order by u.level
