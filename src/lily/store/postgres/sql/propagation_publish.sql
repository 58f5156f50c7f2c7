-- The outbox of derived tags: a thousand assets a row, so that a tag that reaches a hundred thousand is a hundred events.
insert into propagated (batch_id, tenant_id, tag, change, root, assets)
select %(batch)s, %(tenant)s, tag, change, root, array_agg(id)
from (
  select tag, root, id, case when before then 'removed' else 'added' end as change,
         (row_number() over (partition by tag, root, before order by id) - 1) / 1000 as page
  from (
    select t.tag, t.root, t.id, t.had or coalesce(d.since < now(), false) as before, d.since is not null as now
    from touched t
    left join lateral (
      select min(d.since) as since from derived_tags d
      where d.asset_id = t.id and d.tag = t.tag and d.tenant_id = %(tenant)s
    ) d on true
  ) as standing
  where before <> now
) as net
group by tag, root, change, page
