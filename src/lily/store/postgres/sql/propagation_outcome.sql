-- What the run came to: for each root how many assets gained or lost a derived tag, and the longest way to one. What
-- is older than this transaction was there before.
select root::text, count(distinct id), coalesce(max(depth), 0)
from (
  select t.root, t.id, t.had or coalesce(d.since < now(), false) as before, d.depth
  from touched t
  left join lateral (
    select min(d.depth) as depth, min(d.since) as since from derived_tags d
    where d.asset_id = t.id and d.tag = t.tag and d.tenant_id = %(tenant)s
  ) d on true
) as standing
where before <> (depth is not null)
group by root
