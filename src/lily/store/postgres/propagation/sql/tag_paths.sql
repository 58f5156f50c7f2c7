-- The paths of propagated tags from their origins to assets, followed back support by support. Each support is nearer to
-- an origin than the one before, so every path ends, at an asset that states the tag.
with recursive walk (number, tag, id, via, depth, steps, step) as (
  select s.number, s.tag, d.asset_id, d.via, d.depth, d.steps, 0
  from unnest(%(tags)s::text[], %(ids)s::uuid[]) with ordinality as s (tag, id, number)
  join derived_tags d on d.tenant_id = %(tenant)s and d.tag = s.tag and d.asset_id = s.id and d.kind = 'propagated'
  union all
  select w.number, w.tag, w.via, n.via, n.depth, n.steps, w.step + 1
  from walk w
  left join lateral (
    select d.via, d.depth, d.steps
    from derived_tags d
    where d.tenant_id = %(tenant)s and d.tag = w.tag and d.asset_id = w.via and (d.depth, d.steps) < (w.depth, w.steps)
      and not exists (
        select from assets a where a.tenant_id = %(tenant)s and a.id = w.via and w.tag = any (a.stated))
    order by d.depth, d.steps
    limit 1
  ) n on true
  where w.via is not null
)
select number::integer - 1, id::text, depth from walk order by number, step desc
