-- The layers of each given edge, and the protective tags that pass it, each with whether masking would stop it. A tag
-- passes if the asset at the start of the edge, or one above it in the hierarchy, passes it on; an asset that suppresses
-- the tag does not, nor is an influence on one above it passed down. Edges are looked up one by one: there are few, and each reads a handful of rows.
select a.n, e.source, e.source_at, e.source_clocks, e."user", e.user_at, e.user_clocks, e.claimed, e.claims_mask,
       coalesce(conducted.tags, '{{}}')
from unnest(%(numbers)s::int[], %(tenants)s::text[], %(froms)s::uuid[], %(tos)s::uuid[], %(types)s::text[])
       as a (n, tenant_id, from_id, to_id, type)
join edges e on e.tenant_id = a.tenant_id and e.from_id = a.from_id and e.to_id = a.to_id and e.type = a.type
cross join lateral (select {cut} as cut offset 0) as setting
left join lateral (
  with recursive above (tag, stopped, max_depth, id, level) as (
    select f.key, f.stopped_by_masking, f.max_depth, ends.id, 0
    from tags f
    cross join lateral (
      select e.from_id where f.direction <> 'upstream' union all select e.to_id where f.direction <> 'downstream'
    ) as ends (id)
    where f.tenant_id = e.tenant_id and f.propagates and passes(e, f)
    union all
    select b.tag, b.stopped, b.max_depth, up.parent, b.level + 1
    from above b
    cross join lateral (
      select coalesce(x.parent::uuid, g.parent) as parent
      from (values (1)) as one (row)
      left join assets x on x.tenant_id = e.tenant_id and x.id = b.id
      left join graph_nodes g on g.tenant_id = e.tenant_id and g.id = b.id
      where b.tag <> all (coalesce(x.suppressed, '{{}}')) and not (setting.cut and coalesce(x.is_deleted, false))
      offset 0
    ) as up
    where up.parent is not null and b.level < 64  -- bounds a hierarchy with a cycle
  )
  select jsonb_object_agg(b.tag, b.stopped) as tags
  from above b
  cross join lateral carried(e.tenant_id, b.tag, b.id, setting.cut) c
  where c.depth < coalesce(b.max_depth, c.depth + 1) and (b.level = 0 or c.content)
) as conducted on true
