-- Those of these parents that are held, with the change that replaced each. Of an asset its own state counts: the table is
-- brought in line by propagation. The changes of an asset are read once for all of its parents: it may have been moved often.
with replaced as materialized (
  select n.id, c.position, newest_cause(c.causes) as cause, c.before, c.after
  from (select distinct u.id from unnest(%(first)s::uuid[]) as u (id)) n
  cross join lateral (
    select c.position, c.causes, c.before ->> '$parent' as before, c.after ->> '$parent' as after
    from changes c where c.tenant_id = %(tenant)s and c.asset_id = n.id offset 0
  ) c
  where c.before is distinct from c.after
)
select k.n, '{}'::text[], c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(second)s::uuid[]) as k (n, id, parent)
left join lateral (
  select r.cause
  from replaced r
  where r.id = k.id and coalesce(r.after, '') <> k.parent::text
  order by r.before = k.parent::text desc nulls last, r.position desc limit 1
) c on true
left join assets a on a.tenant_id = %(tenant)s and a.id = k.id and not a.awaits_lake
where case when a.id is not null then k.parent = any (a.held_parents)
           else k.parent in (select h.parent from held_parents_of(%(tenant)s, k.id) h) end
