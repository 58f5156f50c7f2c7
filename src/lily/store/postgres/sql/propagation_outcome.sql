-- What the run came to: for each root how many assets gained or lost a derived tag, and the longest way to one.
select t.root::text, count(distinct t.id), coalesce(max(d.depth), 0)
from touched t
left join lateral (
  select min(depth) as depth from derived_tags d
  where d.tenant_id = %(tenant)s and d.tag = t.tag and d.asset_id = t.id
) d on true
where t.had <> (d.depth is not null)
group by t.root
