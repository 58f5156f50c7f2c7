-- Publishes the result of a run. Returns for each root the number of assets that gained or lost a derived tag, the depth
-- of the farthest, and the batch. A tag that is older than this transaction was there before. An outbox row has up to a
-- thousand assets, so a tag that reaches a hundred thousand becomes a hundred events.
with net as materialized (
  select t.tag, t.root, t.id, t.had or coalesce(d.since < now(), false) as before, d.depth
  from touched t
  left join lateral (
    select min(d.depth) as depth, min(d.since) as since from derived_tags d
    where d.asset_id = t.id and d.tag = t.tag and d.tenant_id = %(tenant)s
  ) d on true
  where (t.had or coalesce(d.since < now(), false)) <> (d.depth is not null)
),
batch as (
  insert into batches (topic) select null where exists (select from net) returning id
),
published as (
  insert into propagated (batch_id, tenant_id, tag, change, root, assets)
  select batch.id, %(tenant)s, tag, case when before then 'removed' else 'added' end, root, array_agg(net.id)
  from (
    select *, (row_number() over (partition by tag, root, before order by id) - 1) / 1000 as page from net
  ) as net
  cross join batch
  group by batch.id, tag, root, before, page
)
select root::text, count(distinct net.id), coalesce(max(depth), 0), (select id from batch)
from net
group by root
