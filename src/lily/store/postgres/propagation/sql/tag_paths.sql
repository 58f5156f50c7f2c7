-- The paths of propagated tags from their origins to assets, now or at a time, followed back support by support. Each
-- support is nearer to an origin than the one before, so every path ends, at an asset that states the tag. What is content,
-- as everything that is inherited, has only content on its path.
with recursive walk (number, tag, id, via, depth, steps, content, step) as (
  select s.number, s.tag, d.asset_id, d.via, d.depth, d.steps, d.kind <> 'influenced', 0
  from unnest(%(tags)s::text[], %(ids)s::uuid[], %(inherited)s::boolean[]) with ordinality as s (tag, id, inherited, number)
  cross join lateral (
    select * from derived_tags_at(%(tenant)s, array[s.id], coalesce(%(at)s::timestamptz, 'infinity')) d
    where d.tag = s.tag and (d.kind = 'propagated' or d.kind = 'influenced' and not s.inherited)
    order by d.depth, d.steps
    limit 1
  ) d
  union all
  select w.number, w.tag, w.via, n.via, n.depth, n.steps, w.content or n.content, w.step + 1
  from walk w
  left join lateral (
    select d.via, d.depth, d.steps, d.kind <> 'influenced' as content
    from derived_tags_at(%(tenant)s, array[w.via], coalesce(%(at)s::timestamptz, 'infinity')) d
    where d.tag = w.tag and (d.depth, d.steps) < (w.depth, w.steps)
      and not (w.content and d.kind = 'influenced')
      and (%(at)s::timestamptz is not null or not exists (
        select from assets a where a.tenant_id = %(tenant)s and a.id = w.via and w.tag = any (a.stated)))
    order by d.depth, d.steps
    limit 1
  ) n on true
  where w.via is not null
)
select number::integer - 1, id::text, depth from walk order by number, step desc
