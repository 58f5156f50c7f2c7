-- Parents that assets hold, after a key: of assets, and of nodes of the graph that only the lake has.
select p.id::text, p.parent::text
from (
  (select a.id, h.parent
   from (
     select id, held_parents from assets
     where tenant_id = %(tenant)s and held_parents is not null and id >= %(after)s::uuid
     order by id limit %(limit)s + 1
   ) a
   cross join lateral unnest(a.held_parents) as h (parent)
   where (a.id, h.parent) > (%(after)s::uuid, %(second)s::uuid))
  union
  (select h.id, h.parent from held_parents h
   where h.tenant_id = %(tenant)s and (h.id, h.parent) > (%(after)s::uuid, %(second)s::uuid)
   order by h.id, h.parent limit %(limit)s)
) p
order by p.id, p.parent
limit %(limit)s
