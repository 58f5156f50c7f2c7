-- Those of these deleted assets through which others have protective tags, along an edge or down the hierarchy.
select k.n, t.tags, c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[]) as k (n, id)
join assets a on a.tenant_id = %(tenant)s and a.id = k.id and a.is_deleted and not a.is_cut
cross join lateral (
  select array_agg(p.tag order by p.tag) as tags
  from unnest(%(protective)s::text[]) as p (tag)
  where exists (select from derived_tags d where d.tenant_id = %(tenant)s and d.tag = p.tag and d.via = k.id)
     or exists (select from carried(%(tenant)s, p.tag, k.id, true) c where c.content)
        and exists (select from assets b where b.tenant_id = %(tenant)s and b.parent = k.id::text)
) t
left join lateral (
  select newest_cause(c.causes) as cause
  from changes c
  where c.tenant_id = %(tenant)s and c.asset_id = k.id
    and c.after @> '{"$deleted": true}' and not coalesce(c.before @> '{"$deleted": true}', false)
  order by c.position desc limit 1
) c on true
where %(cut)s and t.tags is not null
