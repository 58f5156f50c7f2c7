-- Publishes what a page of a run changed. Returns for each root the number of assets that gained or lost a derived tag, the
-- depth of the farthest, and the batch. A tag that is older than the run was there before, and so was one whose support ended
-- when the run began. An outbox row has up to a thousand assets, so a tag that reaches a hundred thousand becomes a hundred
-- events.
with net as materialized (
  select t.tag, t.root, t.id, before.it, d.depth
  from (select tag, id, any_value(root) as root, bool_or(had) as had from touched group by id, tag) t
  left join lateral (
    select min(d.depth) as depth, min(d.since) as since from derived_tags d
    where d.asset_id = t.id and d.tag = t.tag and d.tenant_id = %(tenant)s
  ) d on true
  cross join lateral (
    select t.had or coalesce(d.since < %(began)s, false) or %(paged)s and exists (
      select from derived_tag_history h
      where h.asset_id = t.id and h.tag = t.tag and h.until = %(began)s and h.tenant_id = %(tenant)s) as it
  ) before
  where before.it <> (d.depth is not null)
),
batch as (
  insert into batches (topic) select null where exists (select from net) returning id
),
published as (
  insert into propagated (batch_id, tenant_id, tag, change, root, assets)
  select batch.id, %(tenant)s, tag, case when it then 'removed' else 'added' end, root, array_agg(net.id)
  from (
    select *, (row_number() over (partition by tag, root, it) - 1) / 1000 as page from net
  ) as net
  cross join batch
  group by batch.id, tag, root, it, page
)
select root::text, count(distinct net.id), coalesce(max(depth), 0), (select id from batch)
from net
group by root
