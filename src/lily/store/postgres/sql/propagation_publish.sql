-- The outbox of derived tags: a thousand assets a row, so that a tag that reaches a hundred thousand is a hundred events.
insert into propagated (batch_id, tenant_id, tag, change, root, assets)
select %(batch)s, %(tenant)s, tag, change, root, array_agg(id)
from (
  select tag, root, id, case when had then 'removed' else 'added' end as change,
         (row_number() over (partition by tag, root, had order by id) - 1) / 1000 as page
  from touched t
  where had <> exists (
    select from derived_tags d where d.tenant_id = %(tenant)s and d.tag = t.tag and d.asset_id = t.id)
) as net
group by tag, root, change, page
