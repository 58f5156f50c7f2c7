-- Those of these parents that are held, with the change that replaced each. Of an asset its own state counts: the table is
-- brought in line by propagation.
select k.n, '{}'::text[], c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(second)s::uuid[]) as k (n, id, parent)
left join lateral (
  select c.causes -> -1 as cause
  from changes c
  where c.tenant_id = %(tenant)s and c.asset_id = k.id
    and c.before ->> '$parent' is distinct from c.after ->> '$parent'
    and coalesce(c.after ->> '$parent', '') <> k.parent::text
  order by c.before ->> '$parent' = k.parent::text desc nulls last, c.position desc limit 1
) c on true
left join assets a on a.tenant_id = %(tenant)s and a.id = k.id and not a.awaits_lake
where case when a.id is not null then k.parent = any (a.held_parents)
           else k.parent in (select h.parent from held_parents_of(%(tenant)s, k.id) h) end
