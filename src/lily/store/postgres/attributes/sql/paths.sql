-- The derived attributes of an asset with their paths, followed back to the origin support by support. Each support is
-- nearer to the origin than the one before, so every path ends, at an asset that no rule gave the value.
with recursive walk (rule, attribute, item, id, via, depth, step) as (
  select d.rule, d.attribute, d.item, d.asset_id, d.via, d.depth, 0
  from derived_attributes d
  where d.asset_id = %(id)s and d.tenant_id = %(tenant)s
  union all
  select w.rule, w.attribute, w.item, w.via, n.via, n.depth, w.step + 1
  from walk w
  left join lateral (
    select d.via, d.depth from derived_attributes d
    where d.asset_id = w.via and d.rule = w.rule and d.attribute = w.attribute and d.item = w.item
      and d.tenant_id = %(tenant)s and d.depth < w.depth
    offset 0
  ) n on true
  where w.via is not null
)
select d.attribute, d.value, r.name, r.mode, d.depth, p.path
from (
  select rule, attribute, item, array_agg(id::text order by step desc) as path
  from walk
  group by rule, attribute, item
) p
join derived_attributes d
  on d.asset_id = %(id)s and d.rule = p.rule and d.attribute = p.attribute and d.item = p.item and d.tenant_id = %(tenant)s
join propagation_rules r on r.tenant_id = %(tenant)s and r.key = p.rule and r.attribute = d.attribute
order by d.attribute, d.item
