-- Those of these tags that are held and protective, with the newest change that left each out. A tag that arrived later than
-- what ended it, or with it, was never shown: then it is the newest change of tags in a layer that holds it.
select k.n, array[k.tag], c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(texts)s::text[]) as k (n, id, tag)
join assets a on a.tenant_id = %(tenant)s and a.id = k.id and k.tag = any (a.held)
left join lateral (
  select newest_cause(c.causes) as cause
  from changes c
  where c.tenant_id = %(tenant)s and c.asset_id = k.id and not coalesce(c.after -> 'tags' ? k.tag, false)
    and c.before -> 'tags' is distinct from c.after -> 'tags'
    and case c.layer when 'source' then a.source when 'enriched' then a.enriched else a."user" end ? ('$held:' || k.tag)
  order by coalesce(c.before -> 'tags' ? k.tag, false) desc, c.position desc limit 1
) c on true
where k.tag = any (%(protective)s::text[])
