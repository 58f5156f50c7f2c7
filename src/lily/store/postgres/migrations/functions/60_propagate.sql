-- Updates the derived tags of one tenant, around what was marked, from what is committed.
--
-- The caller has filled the temporary tables `marked` (assets whose tags, suppressions, deletion or parent changed) and
-- `marked_edges`, and holds the tenant's lock. Afterwards `touched` has every asset and tag that may have been gained or
-- lost, with whether the asset had the tag before.
--
-- (depth, steps) is the shortest distance to an origin. A derived tag that lost its support is retracted, and with it all
-- that depend on it, even if they can still be reached another way. Then each asset takes the best offer of its
-- neighbours, level by level. So a cycle cannot support itself, and the result equals that of a full recomputation.
--
-- A parent that was replaced without authority still passes tags down (`held_parents`, lily.model.held).
--
-- A tag that came along an `influences` edge is an influence from there on (kind `influenced`). It follows edges like any
-- other, but is not inherited. An asset may have a tag both ways, each with a support of its own.
--
-- A support that ends, or that a shorter one replaces, is recorded in the history, unless it is of this transaction itself:
-- no one has seen it. Where several replace one another in a run, the first record is of the one that was there before.
create or replace function propagate(p_tenant text) returns void
language plpgsql
-- Joins go from few rows to large tables, by index. `offset 0` keeps the planner from reversing that, which it would do
-- for a tenant of which it has no statistics.
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off set jit = off
-- A plan that was made while a table was empty would still be used after the table has grown.
set plan_cache_mode = force_custom_plan
as $$
declare
  cut   boolean := (select on_delete = 'cut' from tenants where id = p_tenant);
  -- Whether any asset may stop a tag. In most tenants none does, and then no asset has to be checked.
  holds boolean := cut or exists (select from assets where tenant_id = p_tenant and suppressed <> '{}');
  -- Whether any asset has a parent that is held.
  holding boolean := exists (select from held_parents where tenant_id = p_tenant)
                     or exists (select from assets where tenant_id = p_tenant and held_parents is not null)
                     or exists (select from assets where tenant_id = p_tenant and awaits_lake);
  nodes uuid[];
  moved uuid[];
  parents_before uuid[];
  unknown uuid[];  -- new in the graph, and PostgreSQL has nothing of them: neither tags nor what is above them
  roots uuid[];
  names text[];
  kinds text[];
  depths integer[];
  hops   integer[];
  solid  boolean[];  -- whether each is content
  tagged uuid[];     -- of what is concerned, those that have derived tags
  carriers uuid[];
begin
  -- Add the assets of edges, and all that are above them in the hierarchy, to the graph.
  insert into concerned (id, root)
  select m.id, m.root from marked m
  where exists (select from graph_nodes g where g.tenant_id = p_tenant and g.id = m.id)
     or exists (select from edges e where e.tenant_id = p_tenant and e.from_id = m.id)
     or exists (select from edges e where e.tenant_id = p_tenant and e.to_id = m.id)
  union all select from_id, root from marked_edges
  union all select to_id, root from marked_edges
  on conflict do nothing;
  with placed as (
    insert into graph_nodes as g (tenant_id, id, parent, awaits_lake)
    select p_tenant, c.id, a.parent::uuid, a.id is null
    from concerned c left join assets a on a.tenant_id = p_tenant and a.id = c.id
    -- A conflict locks the row, which costs as much as to write it: a column of the lake that is in the graph stays as it is.
    where a.id is not null
       or not exists (select from graph_nodes g where g.id = c.id and g.tenant_id = p_tenant offset 0)
    on conflict (tenant_id, id) do update set parent = excluded.parent, awaits_lake = false
    where not excluded.awaits_lake and (g.awaits_lake or g.parent is distinct from excluded.parent)
    returning g.id, old.parent as parent_before, old.id is null and new.awaits_lake as is_unknown
  )
  select array_agg(id), array_agg(id), array_agg(parent_before), coalesce(array_agg(id) filter (where is_unknown), '{}')
  into nodes, moved, parents_before, unknown from placed;
  if holding then
    nodes := nodes || array(select sync_held_parents(p_tenant, moved, parents_before));
    nodes := nodes || array(select sync_held_parents(p_tenant, array_agg(c.id), array_agg(null::uuid))
                            from concerned c where c.id <> all (coalesce(moved, '{}')));
  end if;
  -- Also the parents that were looked up in the lake. Each node once: one that was moved a thousand times has as many parents,
  -- and all of them are looked at for each time that it is in the list.
  nodes := nullif(array(
    select unnest(nodes)
    union
    select unnest(a.ids)
    from (
      select g.parent, array_agg(c.id) as ids
      from concerned c cross join lateral conducting_parents(p_tenant, c.id) g
      where c.id <> all (coalesce(moved, '{}'))
      group by g.parent
    ) a
    where (select count(*) from graph_nodes p where p.id = a.parent and p.tenant_id = p_tenant) = 0), '{}');
  delete from marked m where not exists (select from graph_nodes g where g.tenant_id = p_tenant and g.id = m.id);
  while nodes is not null loop
    insert into marked (id, root, whole)
    select c.id, c.root, false from concerned c where c.id = any (nodes)
    on conflict do nothing;
    with above as materialized (
      select g.parent, c.root
      from (select c.id, c.root from concerned c where c.id = any (nodes) and c.id <> all (unknown) offset 0) c
      cross join lateral conducting_parents(p_tenant, c.id) g
    ),
    noted as (
      insert into concerned (id, root) select parent, root from above
      on conflict do nothing
    ),
    placed as (
      insert into graph_nodes as g (tenant_id, id, parent, awaits_lake)
      select p_tenant, b.id, a.parent::uuid, a.id is null
      from (select distinct parent as id from above) b
      left join assets a on a.tenant_id = p_tenant and a.id = b.id
      on conflict do nothing
      returning g.id
    )
    select array_agg(id), array_agg(null::uuid) into nodes, parents_before from placed;
    if holding then
      perform sync_held_parents(p_tenant, nodes, parents_before);
    end if;
  end loop;

  tagged := array(
    select c.id from concerned c
    where exists (select from derived_tags d where d.asset_id = c.id and d.tenant_id = p_tenant offset 0));

  -- Retract derived tags that have lost their support, and those that depend on them.
  select array_agg(s.tag), array_agg(s.asset_id), array_agg(s.kind), array_agg(s.root) into names, nodes, kinds, roots
  from (
    select d.tag, d.asset_id, d.kind, m.root
    from (select * from marked m where m.id = any (tagged) offset 0) m
    cross join lateral (select * from derived_tags d where d.asset_id = m.id and d.tenant_id = p_tenant offset 0) d
    join tags f on f.tenant_id = p_tenant and f.key = d.tag
    union all
    select d.tag, d.asset_id, d.kind, m.root
    from marked m
    cross join lateral (select * from derived_tags d where d.via = m.id and d.tenant_id = p_tenant offset 0) d
    join tags f on f.tenant_id = p_tenant and f.key = d.tag
    where m.whole
    union all
    select d.tag, d.asset_id, d.kind, m.root
    from (select * from marked_edges m where m.from_id = any (tagged) or m.to_id = any (tagged) offset 0) m
    cross join lateral (
      select * from derived_tags d
      where d.asset_id in (m.to_id, m.from_id) and d.kind <> 'inherited' and d.tenant_id = p_tenant
      offset 0) d
    join tags f on f.tenant_id = p_tenant and f.key = d.tag
    where d.via in (m.to_id, m.from_id)
  ) s;
  while nodes is not null loop
    with suspects as (
      select distinct on (tag, id, kind) * from unnest(names, nodes, kinds, roots) as s (tag, id, kind, root)
      order by tag, id, kind
    ),
    broken as materialized (
      select d.ctid as place, d.tag, d.asset_id, s.root
      from suspects s
      cross join lateral (
        select d.ctid, d.* from derived_tags d
        where d.asset_id = s.id and d.tag = s.tag and d.kind = s.kind and d.tenant_id = p_tenant
        offset 0) d
      where (
          (select d.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = d.asset_id)
          or not exists (select from tags f where f.tenant_id = p_tenant and f.key = d.tag and f.propagates)
          or d.kind = 'inherited' and not exists (
            select from conducting_parents(p_tenant, d.asset_id) g cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where g.parent = d.via and c.content and (c.depth, c.steps + 1) <= (d.depth, d.steps))
          or d.kind <> 'inherited' and not exists (
            select from tags f
            cross join lateral (
              select * from edges e where e.from_id = d.via and e.to_id = d.asset_id and e.tenant_id = p_tenant offset 0) e
            cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where f.tenant_id = p_tenant and f.key = d.tag and f.propagates and f.direction <> 'upstream' and passes(e.conduction, e.type, f)
              and d.kind = arrives_as(e.type, c.content)
              and (c.depth + 1, c.steps + 1) <= (d.depth, d.steps) and c.depth < coalesce(f.max_depth, c.depth + 1))
            and not exists (
            select from tags f
            cross join lateral (
              select * from edges e where e.from_id = d.asset_id and e.to_id = d.via and e.tenant_id = p_tenant offset 0) e
            cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where f.tenant_id = p_tenant and f.key = d.tag and f.propagates and f.direction <> 'downstream' and passes(e.conduction, e.type, f)
              and d.kind = arrives_as(e.type, c.content)
              and (c.depth + 1, c.steps + 1) <= (d.depth, d.steps) and c.depth < coalesce(f.max_depth, c.depth + 1))
        )
    ),
    retracted as (
      delete from derived_tags where ctid = any (array(select place from broken)) returning *
    ),
    recorded as (
      insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
      select tenant_id, tag, asset_id, kind, via, depth, steps, since, now() from retracted where since < now()
      on conflict do nothing
    ),
    noted as (
      insert into touched (tag, id, root, had) select distinct on (tag, asset_id) tag, asset_id, root, true from broken
      order by tag, asset_id
      on conflict do nothing
    )
    select array_agg(d.tag), array_agg(d.asset_id), array_agg(d.kind), array_agg(b.root) into names, nodes, kinds, roots
    from (select distinct on (tag, asset_id) * from broken order by tag, asset_id) b
    cross join lateral (
      select * from derived_tags d where d.via = b.asset_id and d.tag = b.tag and d.tenant_id = p_tenant offset 0) d;
  end loop;

  -- What has no tag has none to offer, whichever tags are defined. Of new edges and columns that is nearly all.
  carriers := tagged || array(
    select n.id
    from (
      select from_id as id from marked_edges union select to_id from marked_edges
    ) n
    where n.id <> all (unknown)
      and exists (select from assets a where a.tenant_id = p_tenant and a.id = n.id and a.stated <> '{}' offset 0)
  ) || array(
    select n.id
    from (
      select g.parent as id
      from (select * from marked m where not m.whole and m.id <> all (unknown) offset 0) m
      cross join lateral conducting_parents(p_tenant, m.id) g
      group by g.parent
    ) n
    where exists (select from derived_tags d where d.asset_id = n.id and d.tenant_id = p_tenant offset 0)
       or exists (select from assets a where a.tenant_id = p_tenant and a.id = n.id and a.stated <> '{}' offset 0));

  -- Assets that lost a tag or were marked take the best offers of their neighbours.
  with seeds as (
    select tag, id, root from touched
    union
    select f.key, m.id, m.root from tags f cross join marked m where f.tenant_id = p_tenant and f.propagates and m.whole
  ),
  placed as (  -- new in the graph: their edges are marked themselves, so only inheritance is missing
    select tag, id, root from seeds
    union all
    select f.key, m.id, m.root
    from marked m
    join tags f on f.tenant_id = p_tenant and f.propagates
    -- `= any` of an empty array is false, from which the planner concludes that every partial index may be used: it would
    -- read all nodes that await the lake, for each of these.
    where not m.whole and carriers <> '{}'
      and exists (select from conducting_parents(p_tenant, m.id) g where g.parent = any (carriers))
  ),
  offers as (
    select s.tag, s.id, arrives_as(e.type, c.content) as kind, e.from_id as via, c.depth + 1 as depth, c.steps + 1 as steps, s.root
    from seeds s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates and f.direction <> 'upstream'
    cross join lateral (select * from edges e where e.to_id = s.id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, s.tag, e.from_id, cut) c
    where passes(e.conduction, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select s.tag, s.id, arrives_as(e.type, c.content), e.to_id, c.depth + 1, c.steps + 1, s.root
    from seeds s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates and f.direction <> 'downstream'
    cross join lateral (select * from edges e where e.from_id = s.id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, s.tag, e.to_id, cut) c
    where passes(e.conduction, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select s.tag, s.id, 'inherited', g.parent, c.depth, c.steps + 1, s.root
    from placed s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates
    cross join lateral conducting_parents(p_tenant, s.id) g
    cross join lateral carried(p_tenant, s.tag, g.parent, cut) c
    where c.content
    union all
    select f.key, m.to_id, arrives_as(e.type, c.content), m.from_id, c.depth + 1, c.steps + 1, m.root
    from (select * from marked_edges where from_id = any (carriers)) m
    join tags f on f.tenant_id = p_tenant and f.propagates and f.direction <> 'upstream'
    cross join lateral (
      select * from edges e where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, f.key, m.from_id, cut) c
    where passes(e.conduction, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select f.key, m.from_id, arrives_as(e.type, c.content), m.to_id, c.depth + 1, c.steps + 1, m.root
    from (select * from marked_edges where to_id = any (carriers)) m
    join tags f on f.tenant_id = p_tenant and f.propagates and f.direction <> 'downstream'
    cross join lateral (
      select * from edges e where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, f.key, m.to_id, cut) c
    where passes(e.conduction, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
  ),
  best as (
    select distinct on (tag, id, kind) * from offers o
    where not coalesce((select o.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = o.id), false)
    order by tag, id, kind, depth, steps, via
  ),
  taken as (
    insert into derived_tags as d (tenant_id, tag, asset_id, kind, via, depth, steps, root)
    select p_tenant, tag, id, kind, via, depth, steps, root from best
    on conflict (tenant_id, tag, asset_id, kind)
    do update set via = excluded.via, depth = excluded.depth, steps = excluded.steps, root = excluded.root
    where (excluded.depth, excluded.steps) < (d.depth, d.steps)
    returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh, d.kind, d.since,
              old.via as via_before, old.depth as depth_before, old.steps as steps_before
  ),
  recorded as (
    insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
    select p_tenant, tag, asset_id, kind, via_before, depth_before, steps_before, since, now() from taken
    where not fresh and since < now()
    on conflict do nothing
  ),
  noted as (
    insert into touched (tag, id, root, had)
    select distinct on (t.tag, t.asset_id) t.tag, t.asset_id, t.root, false
    from taken t
    where t.fresh
    order by t.tag, t.asset_id
    on conflict do nothing
  )
  select array_agg(tag), array_agg(id), array_agg(depth), array_agg(steps), array_agg(content), array_agg(root)
  into names, nodes, depths, hops, solid, roots
  from (
    select tag, asset_id as id, depth, steps, kind <> 'influenced' as content, root from taken
    union all
    select f.key, m.id, c.depth, c.steps, c.content, m.root
    from tags f cross join marked m cross join lateral carried(p_tenant, f.key, m.id, cut) c
    where f.tenant_id = p_tenant and f.propagates and m.whole
  ) changed;

  -- They pass tags on to their neighbours in turn, level by level, until no asset gains one.
  while nodes is not null loop
    with frontier as (
      select distinct on (n.tag, n.id, n.content) n.tag, n.id, n.depth, n.steps, n.content, n.root
      from unnest(names, nodes, depths, hops, solid, roots) as n (tag, id, depth, steps, content, root)
      where not holds or not coalesce((
        select not n.tag = any (a.stated) and n.tag = any (a.suppressed) or cut and a.is_cut
        from assets a where a.tenant_id = p_tenant and a.id = n.id), false)
      order by n.tag, n.id, n.content, n.depth, n.steps
    ),
    offers as (
      select n.tag, e.to_id as id, arrives_as(e.type, n.content) as kind, n.id as via, n.depth + 1 as depth,
             n.steps + 1 as steps, n.root
      from frontier n
      join tags f on f.tenant_id = p_tenant and f.key = n.tag and f.propagates and f.direction <> 'upstream'
      cross join lateral (select * from edges e where e.from_id = n.id and e.tenant_id = p_tenant offset 0) e
      where passes(e.conduction, e.type, f) and n.depth < coalesce(f.max_depth, n.depth + 1)
      union all
      select n.tag, e.from_id, arrives_as(e.type, n.content), n.id, n.depth + 1, n.steps + 1, n.root
      from frontier n
      join tags f on f.tenant_id = p_tenant and f.key = n.tag and f.propagates and f.direction <> 'downstream'
      cross join lateral (select * from edges e where e.to_id = n.id and e.tenant_id = p_tenant offset 0) e
      where passes(e.conduction, e.type, f) and n.depth < coalesce(f.max_depth, n.depth + 1)
      union all
      select n.tag, g.id, 'inherited', n.id, n.depth, n.steps + 1, n.root
      from frontier n
      cross join lateral conducting_children(p_tenant, n.id) g
      where n.content
    ),
    best as (
      select distinct on (tag, id, kind) * from offers o
      where not coalesce((select o.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = o.id), false)
      order by tag, id, kind, depth, steps, via
    ),
    taken as (
      insert into derived_tags as d (tenant_id, tag, asset_id, kind, via, depth, steps, root)
      select p_tenant, tag, id, kind, via, depth, steps, root from best
      on conflict (tenant_id, tag, asset_id, kind)
      do update set via = excluded.via, depth = excluded.depth, steps = excluded.steps, root = excluded.root
      where (excluded.depth, excluded.steps) < (d.depth, d.steps)
      returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh, d.kind, d.since,
                old.via as via_before, old.depth as depth_before, old.steps as steps_before
    ),
    recorded as (
      insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
      select p_tenant, tag, asset_id, kind, via_before, depth_before, steps_before, since, now() from taken
      where not fresh and since < now()
      on conflict do nothing
    ),
    noted as (
      insert into touched (tag, id, root, had)
      select distinct on (t.tag, t.asset_id) t.tag, t.asset_id, t.root, false
      from taken t
      where t.fresh
      order by t.tag, t.asset_id
      on conflict do nothing
    )
    select array_agg(tag), array_agg(asset_id), array_agg(depth), array_agg(steps), array_agg(kind <> 'influenced'),
           array_agg(root)
    into names, nodes, depths, hops, solid, roots
    from taken;
  end loop;
end
$$;
