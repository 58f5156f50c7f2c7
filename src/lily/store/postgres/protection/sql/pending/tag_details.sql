-- Those of these tags that are held and protective, with the newest change that left each out.
select k.n, array[k.tag], c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(texts)s::text[]) as k (n, id, tag)
join assets a on a.tenant_id = %(tenant)s and a.id = k.id and k.tag = any (a.held)
left join lateral (
  select c.causes -> -1 as cause
  from changes c
  where c.tenant_id = %(tenant)s and c.asset_id = k.id
    and c.before -> 'tags' ? k.tag and not coalesce(c.after -> 'tags' ? k.tag, false)
  order by c.position desc limit 1
) c on true
where k.tag = any (%(protective)s::text[])
