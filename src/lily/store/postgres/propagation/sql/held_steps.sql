-- Which of these steps of paths a tag takes only along edges that are held: none that is shown lets it pass, and it does
-- not come down the hierarchy.
select p.number
from unnest(%(numbers)s::int[], %(tags)s::text[], %(froms)s::uuid[], %(tos)s::uuid[]) as p (number, tag, from_id, to_id)
join tags f on f.tenant_id = %(tenant)s and f.key = p.tag
cross join lateral (
  select bool_and(e.is_deleted or not e.propagates or e.masking and f.stopped_by_masking) as held
  from edges e
  where e.tenant_id = %(tenant)s and passes(e, f)
    and ((e.from_id, e.to_id) = (p.from_id, p.to_id) and f.direction <> 'upstream'
         or (e.from_id, e.to_id) = (p.to_id, p.from_id) and f.direction <> 'downstream')
) step
where step.held
  and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = p.to_id and a.parent = p.from_id::text)
