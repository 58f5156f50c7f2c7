-- Of nodes that got another parent from the lake, those whose derived tags may change by it: they have some, or their parent has
-- some to pass down or is not in the graph yet, or PostgreSQL has their asset by now and so their parent. Of new columns that
-- is hardly any. `offset 0` makes it look up each node.
with placed as materialized (
  select * from unnest(%(ids)s::uuid[], %(parents)s::uuid[], %(known)s::boolean[]) as p (id, parent, known)
),
without_tags as materialized (
  select p.parent
  from (select distinct parent from placed where parent is not null) p
  where exists (select from graph_nodes g where g.id = p.parent and g.tenant_id = %(tenant)s offset 0)
    and not exists (select from derived_tags d where d.asset_id = p.parent and d.tenant_id = %(tenant)s offset 0)
    and not exists (
      select from assets a where a.tenant_id = %(tenant)s and a.id = p.parent and a.stated <> '{}' offset 0)
)
select p.id::text
from placed p
where p.known
   or p.parent is not null and p.parent not in (select parent from without_tags)
   or exists (select from derived_tags d where d.asset_id = p.id and d.tenant_id = %(tenant)s offset 0)
