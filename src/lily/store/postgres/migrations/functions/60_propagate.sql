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
--
-- A run that is large is done in pages: the function returns after about `p_most` supports, with `finished` false, and the
-- caller commits and calls it again, with the same marks until the run has taken them in (`propagation_runs.marked`) and with
-- none afterwards. What is still to do is in `propagation_pages`. All pages change what they change at one time: `began`, that
-- of the first. Without `p_most` the run is finished, whatever it takes, and with it one that was left unfinished.
--
--   mark      assets of which anything may have changed: their supports, and those that rest on them, are looked at
--   suspect   supports that may have lost theirs
--   seed      assets that lost a tag: they take the best offers of their neighbours
--   origin    as `mark`: they take offers, and pass on what they have
--   frontier  assets that have a tag to pass on, by the label that is stored then
--   loss      assets that lost a tag: if they still lack it at the end, that is published
drop function if exists propagate(text);
create or replace function propagate(p_tenant text, p_most integer default null, out finished boolean, out began timestamptz)
language plpgsql
-- Joins go from few rows to large tables, by index. `offset 0` keeps the planner from reversing that, which it would do
-- for a tenant of which it has no statistics.
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off set enable_bitmapscan = off set jit = off
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
  -- What is to be handled is kept in arrays, a page of it at a time.
  page constant integer := 5000;
  verified boolean;  -- the labels of the pages: nothing was marked since, so nothing was retracted
  room bigint := p_most;  -- how many supports may still be looked at in this call
  nodes uuid[];
  moved uuid[];
  parents_before uuid[];
  given uuid[] := array(select id from marked);  -- by the caller
  unknown uuid[];  -- new in the graph, and PostgreSQL has nothing of them: neither tags nor what is above them
  roots uuid[];
  names text[];
  kinds text[];
  depths integer[];
  hops   integer[];
  solid  boolean[];  -- whether each is content
  tagged uuid[];     -- of what is concerned, those that have derived tags
  carriers uuid[];
  seeds_names text[];
  seeds_nodes uuid[];
  seeds_roots uuid[];
  next_names text[];
  next_nodes uuid[];
  next_depths integer[];
  next_hops integer[];
  next_solid boolean[];
  next_roots uuid[];
  here integer;
  walked integer;
  levels integer := 1;  -- how many are searched at once
  counted integer;
  reached bigint := 0;
  -- Once a run is not small: the assets that state any of the tags, and the tags that too many state to list them; those that
  -- suppress any. Then the others need not be looked up one by one.
  origins  uuid[];
  crowded  text[] := '{}';
  stoppers uuid[];
begin
  select r.began into began from propagation_runs r where r.tenant_id = p_tenant;
  began := coalesce(began, now());
  verified := not exists (select from marked) and not exists (select from marked_edges);
  finished := true;

  -- Add the assets of edges, and all that are above them in the hierarchy, to the graph.
  -- `offset 0` keeps the planner from reading all edges of the tenant once, instead of looking up those of each asset.
  insert into concerned (id, root)
  select distinct on (id) id, root
  from (
    select m.id, m.root, 1 as rank from marked m
    where not m.known and (exists (select from graph_nodes g where g.tenant_id = p_tenant and g.id = m.id offset 0)
       or exists (select from edges e where e.tenant_id = p_tenant and e.from_id = m.id offset 0)
       or exists (select from edges e where e.tenant_id = p_tenant and e.to_id = m.id offset 0))
    union all select from_id, root, 2 from marked_edges
    union all select to_id, root, 3 from marked_edges
  ) c
  order by id, rank;
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
  delete from marked m where not m.known and not exists (select from graph_nodes g where g.tenant_id = p_tenant and g.id = m.id);
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

  if p_most < (select count(*) from marked where known) then
    insert into propagation_pages (tenant_id, step, ids, roots)
    select p_tenant, step, array_agg(id), array_agg(root)
    from (select id, root, row_number() over (order by id) / page as number from marked where known) m
    cross join unnest(array['mark', 'origin']) as s (step)
    group by step, number order by step, number;
    delete from marked where known;
  end if;

  tagged := array(
    select c.id from (select id from concerned union select id from marked) c
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
  -- What rests on a retracted support, and on nothing else that the asset has of the tag, is lost with it, at any distance:
  -- that takes one statement. Where the asset states the tag, or has it in another way too, each is looked at.
  loop
    while nodes is not null loop
      with recursive suspects as (
        select distinct on (id, tag, kind) * from unnest(names, nodes, kinds, roots, solid) as s (tag, id, kind, root, sure)
        order by id, tag, kind, sure desc nulls last
      ),
      broken as materialized (
        select d.ctid as place, d.tag, d.asset_id, d.kind, d.depth, d.steps, s.root, a.states
        from suspects s
        cross join lateral (
          select d.ctid, d.* from derived_tags d
          where d.asset_id = s.id and d.tag = s.tag and d.kind = s.kind and d.tenant_id = p_tenant
          offset 0) d
        cross join lateral (
          select coalesce((
            select d.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = d.asset_id), false) as states
          offset 0) a
        where s.sure or a.states
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
      ),
      -- `alone`: the asset has the tag by this support only.
      found (place, tag, asset_id, kind, depth, steps, root, alone) as (
        select b.place, b.tag, b.asset_id, b.kind, b.depth, b.steps, b.root, not b.states and not exists (
          select from derived_tags o
          where o.asset_id = b.asset_id and o.tag = b.tag and o.kind <> b.kind and o.tenant_id = p_tenant offset 0)
        from broken b
        union all
        select d.ctid, d.tag, d.asset_id, d.kind, d.depth, d.steps, l.root, not exists (
          select from derived_tags o
          where o.asset_id = d.asset_id and o.tag = d.tag and o.kind <> d.kind and o.tenant_id = p_tenant offset 0)
        from found l
        cross join lateral (
          select d.ctid, d.* from derived_tags d where d.via = l.asset_id and d.tag = l.tag and d.tenant_id = p_tenant offset 0) d
        where l.alone and (d.depth, d.steps) > (l.depth, l.steps)
      ),
      seen as materialized (select * from found limit room),
      lost as materialized (
        select distinct on (asset_id, tag, kind) place, tag, asset_id, kind, depth, steps, root, alone from seen
        order by asset_id, tag, kind
      ),
      retracted as (
        delete from derived_tags d using lost where d.ctid = lost.place returning d.*
      ),
      recorded as (
        insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
        select tenant_id, tag, asset_id, kind, via, depth, steps, since, began from retracted where since < began
        on conflict do nothing
      ),
      noted as (
        insert into touched (tag, id, root, had) select tag, asset_id, root, true from lost
      )
      -- What rests on the only support is lost for sure.
      select array_agg(tag), array_agg(asset_id), array_agg(kind), array_agg(root), array_agg(sure), (select count(*) from seen)
      into names, nodes, kinds, roots, solid, counted
      from (
        select d.tag, d.asset_id, d.kind, l.root, l.alone and (d.depth, d.steps) > (l.depth, l.steps) as sure
        from (
          select distinct on (asset_id, tag) * from lost
          where not alone or (select count(*) from seen) >= room
          order by asset_id, tag, alone
        ) l
        cross join lateral (
          select d.ctid, d.* from derived_tags d where d.via = l.asset_id and d.tag = l.tag and d.tenant_id = p_tenant offset 0
        ) d
        where d.ctid not in (select place from lost)
        union all
        -- There was no room for these.
        select b.tag, b.asset_id, b.kind, b.root, false
        from broken b
        where (select count(*) from seen) >= room and b.place not in (select place from lost)
      ) more;
      room := room - counted;
      exit when room <= 0;
    end loop;
    exit when room <= 0;
    select tags, ids, p.kinds, p.roots, p.content into names, nodes, kinds, roots, solid from take_page(p_tenant, 'suspect') p;
    if nodes is null then
      select ids, p.roots into nodes, roots from take_page(p_tenant, 'mark') p;
      exit when nodes is null;
      solid := null;
      select array_agg(s.tag), array_agg(s.asset_id), array_agg(s.kind), array_agg(s.root) into names, nodes, kinds, roots
      from (
        select d.tag, d.asset_id, d.kind, m.root
        from unnest(nodes, roots) as m (id, root)
        cross join lateral (
          select * from derived_tags d where d.asset_id = m.id and d.tenant_id = p_tenant offset 0) d
        union all
        select d.tag, d.asset_id, d.kind, m.root
        from unnest(nodes, roots) as m (id, root)
        cross join lateral (select * from derived_tags d where d.via = m.id and d.tenant_id = p_tenant offset 0) d
      ) s;
      room := room - coalesce(cardinality(nodes), 0) / 4;  -- to look at one costs less than to retract it
    end if;
  end loop;
  if nodes is not null or exists (select from propagation_pages where tenant_id = p_tenant and step in ('suspect', 'mark')) then
    perform put_off(p_tenant, 'suspect', names, nodes, kinds, roots, null, null, solid);
    -- The caller marks again what it has marked, and nobody what is new in the graph: it is not new in the next call.
    perform put_off(p_tenant, 'origin', null, array_agg(m.id), null, array_agg(m.root))
    from marked m where m.id not in (select unnest(given));
    perform put_off_losses(p_tenant, array['seed', 'loss']);
    finished := false;
    insert into propagation_runs (tenant_id, began) values (p_tenant, began)
    on conflict (tenant_id) do update set marked = false;
    return;
  end if;

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
  select array_agg(tag), array_agg(id), array_agg(root) into seeds_names, seeds_nodes, seeds_roots
  from (select distinct on (id, tag) tag, id, root from touched order by id, tag) t;
  names := null;  nodes := null;  depths := null;  hops := null;  solid := null;  roots := null;
  loop
    if seeds_nodes is not null or exists (select from marked) or exists (select from marked_edges) then
      with seeds as (
        select * from unnest(seeds_names, seeds_nodes, seeds_roots) as s (tag, id, root)
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
        select distinct on (id, tag, kind) * from offers o
        where not coalesce((select o.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = o.id), false)
        order by id, tag, kind, depth, steps, via
      ),
      taken as (
        insert into derived_tags as d (tenant_id, tag, asset_id, kind, via, depth, steps, root, since)
        select p_tenant, tag, id, kind, via, depth, steps, root, began from best
        on conflict (tenant_id, tag, asset_id, kind)
        do update set via = excluded.via, depth = excluded.depth, steps = excluded.steps, root = excluded.root
        where (excluded.depth, excluded.steps) < (d.depth, d.steps)
        returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh, d.kind, d.since,
                  old.via as via_before, old.depth as depth_before, old.steps as steps_before
      ),
      recorded as (
        insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
        select p_tenant, tag, asset_id, kind, via_before, depth_before, steps_before, since, began from taken
        where not fresh and since < began
        on conflict do nothing
      ),
      noted as (
        insert into touched (tag, id, root, had) select tag, asset_id, root, false from taken where fresh
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
      seeds_nodes := null;
      delete from marked;
      delete from marked_edges;
      room := room - coalesce(cardinality(nodes), 0);
    end if;

    -- They pass tags on to their neighbours in turn, level by level, until no asset gains one. Where few assets pass them on
    -- to few, as along a chain, many levels are searched by one statement.
    while nodes is not null and coalesce(room > 0, true) loop
      here := least(page, cardinality(nodes));
      if levels > 1 then
        with recursive walk (tag, id, kind, content, via, depth, steps, root, level) as (
          select n.tag collate "C", n.id, null::text collate "C", n.content, n.id, n.depth, n.steps, n.root, 0
          from unnest(names, nodes, depths, hops, solid, roots) as n (tag, id, depth, steps, content, root)
          union
          select w.tag, o.id, o.kind collate "C", o.kind <> 'influenced', w.id, w.depth + o.edges, w.steps + 1, w.root, w.level + 1
          from walk w
          join tags f on f.tenant_id = p_tenant and f.key = w.tag and f.propagates
          cross join lateral next_steps(p_tenant, f, w.id, w.depth, w.content) o
          where w.level < levels
            and not (holds and is_stopped(p_tenant, w.tag, w.id, cut))
            and not coalesce((select w.tag = any (a.stated) from assets a where a.tenant_id = p_tenant and a.id = o.id), false)
            and not exists (
              select from derived_tags d
              where d.asset_id = o.id and d.tag = w.tag and d.kind = o.kind and d.tenant_id = p_tenant
                and (d.depth, d.steps) <= (w.depth + o.edges, w.steps + 1) offset 0)
        ),
        seen as materialized (select * from walk limit 2001),
        best as materialized (
          select distinct on (id, tag, kind) * from seen
          where level > 0 and (select count(*) from seen) <= 2000
          order by id, tag, kind, depth, steps, via
        ),
        taken as (
          insert into derived_tags as d (tenant_id, tag, asset_id, kind, via, depth, steps, root, since)
          select p_tenant, tag, id, kind, via, depth, steps, root, began from best
          on conflict (tenant_id, tag, asset_id, kind)
          do update set via = excluded.via, depth = excluded.depth, steps = excluded.steps, root = excluded.root
          where (excluded.depth, excluded.steps) < (d.depth, d.steps)
          returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh, d.kind, d.since,
                    old.via as via_before, old.depth as depth_before, old.steps as steps_before
        ),
        recorded as (
          insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
          select p_tenant, tag, asset_id, kind, via_before, depth_before, steps_before, since, began from taken
          where not fresh and since < began
          on conflict do nothing
        ),
        noted as (
          insert into touched (tag, id, root, had) select tag, asset_id, root, false from taken where fresh
        )
        -- What is not of the last level has been passed on already.
        select array_agg(tag) filter (where last), array_agg(asset_id) filter (where last), array_agg(depth) filter (where last),
               array_agg(steps) filter (where last), array_agg(kind <> 'influenced') filter (where last),
               array_agg(root) filter (where last), count(*), (select count(*) from seen)
        into next_names, next_nodes, next_depths, next_hops, next_solid, next_roots, counted, walked
        from (
          select *, (asset_id, tag, kind) not in (select id, tag, kind from best where level < levels) as last from taken
        ) t;
        if walked > 2000 then
          levels := 1;
          continue;
        end if;
        levels := case when counted <= 32 * levels then least(levels * 4, 256) else 1 end;
      else
        with frontier as (
          select distinct on (n.id, n.tag, n.content) n.tag, n.id, n.depth, n.steps, n.content, n.root
          from unnest(names[:here], nodes[:here], depths[:here], hops[:here], solid[:here], roots[:here])
               as n (tag, id, depth, steps, content, root)
          where not holds or stoppers is not null and n.id <> all (stoppers) or not is_stopped(p_tenant, n.tag, n.id, cut)
          order by n.id, n.tag, n.content, n.depth, n.steps
        ),
        best as (
          select distinct on (o.id, n.tag, o.kind) n.tag, o.id, o.kind, n.id as via, n.depth + o.edges as depth,
                 n.steps + 1 as steps, n.root
          from frontier n
          join tags f on f.tenant_id = p_tenant and f.key = n.tag and f.propagates
          cross join lateral next_steps(p_tenant, f, n.id, n.depth, n.content) o
          where not coalesce((
            select n.tag = any (a.stated) from assets a
            where (origins is null or o.id = any (origins) or n.tag = any (crowded))
              and a.tenant_id = p_tenant and a.id = o.id), false)
          order by o.id, n.tag, o.kind, depth, steps, via
        ),
        taken as (
          insert into derived_tags as d (tenant_id, tag, asset_id, kind, via, depth, steps, root, since)
          select p_tenant, tag, id, kind, via, depth, steps, root, began from best
          on conflict (tenant_id, tag, asset_id, kind)
          do update set via = excluded.via, depth = excluded.depth, steps = excluded.steps, root = excluded.root
          where (excluded.depth, excluded.steps) < (d.depth, d.steps)
          returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh, d.kind, d.since,
                    old.via as via_before, old.depth as depth_before, old.steps as steps_before
        ),
        recorded as (
          insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
          select p_tenant, tag, asset_id, kind, via_before, depth_before, steps_before, since, began from taken
          where not fresh and since < began
          on conflict do nothing
        ),
        noted as (
          insert into touched (tag, id, root, had) select tag, asset_id, root, false from taken where fresh
        )
        select array_agg(tag), array_agg(asset_id), array_agg(depth), array_agg(steps), array_agg(kind <> 'influenced'),
               array_agg(root), count(*)
        into next_names, next_nodes, next_depths, next_hops, next_solid, next_roots, counted
        from taken;
        levels := case when cardinality(nodes) <= 32 and counted <= 2 * cardinality(nodes) then 4 else 1 end;
      end if;
      names := nullif(names[here + 1:] || next_names, '{}');
      nodes := nullif(nodes[here + 1:] || next_nodes, '{}');
      depths := nullif(depths[here + 1:] || next_depths, '{}');
      hops := nullif(hops[here + 1:] || next_hops, '{}');
      solid := nullif(solid[here + 1:] || next_solid, '{}');
      roots := nullif(roots[here + 1:] || next_roots, '{}');
      reached := reached + counted;
      room := room - counted - here / 2;
      if reached > 1000 and origins is null then
        -- A small run looks the assets up, a larger one lists them once.
        select s.ids, s.crowded into origins, crowded from stating_assets(p_tenant) s;
        if holds and not cut then
          stoppers := array(select a.id from assets a where a.tenant_id = p_tenant and a.suppressed <> '{}' limit 1001);
          stoppers := case when cardinality(stoppers) <= 1000 then stoppers end;
        end if;
      end if;
    end loop;
    if room <= 0 then
      perform put_off(p_tenant, 'frontier', names, nodes, null, roots, depths, hops, solid);
      nodes := null;
      exit;
    end if;

    if verified then
      select p.tags, p.ids, p.depths, p.steps, p.content, p.roots into names, nodes, depths, hops, solid, roots
      from take_page(p_tenant, 'frontier') p;
    else
      select array_agg(n.tag), array_agg(n.id), array_agg(c.depth), array_agg(c.steps), array_agg(c.content), array_agg(n.root)
      into names, nodes, depths, hops, solid, roots
      from take_page(p_tenant, 'frontier') p
      cross join lateral unnest(p.tags, p.ids, p.roots) as n (tag, id, root)
      cross join lateral carried(p_tenant, n.tag, n.id, cut) c;
    end if;
    continue when nodes is not null;
    select p.tags, p.ids, p.roots into seeds_names, seeds_nodes, seeds_roots from take_page(p_tenant, 'seed') p;
    continue when seeds_nodes is not null;
    insert into marked (id, root)
    select n.id, n.root from take_page(p_tenant, 'origin') p cross join lateral unnest(p.ids, p.roots) as n (id, root);
    exit when not exists (select from marked) and not exists (
      select from propagation_pages where tenant_id = p_tenant and step = 'frontier');
  end loop;

  -- At the end it is known what is lost.
  if exists (select from propagation_pages where tenant_id = p_tenant and step <> 'loss') then
    perform put_off_losses(p_tenant, array['loss']);
  else
    room := case when room < page then page else room end;
    while coalesce(room > 0, true) and exists (select from propagation_pages where tenant_id = p_tenant) loop
      insert into touched (tag, id, root, had)
      select n.tag, n.id, n.root, true
      from take_page(p_tenant, 'loss') p cross join lateral unnest(p.tags, p.ids, p.roots) as n (tag, id, root);
      room := room - page / 2;
    end loop;
  end if;
  if exists (select from propagation_pages where tenant_id = p_tenant) then
    finished := false;
    insert into propagation_runs (tenant_id, began, marked) values (p_tenant, began, true)
    on conflict (tenant_id) do update set marked = true;
  else
    delete from propagation_runs r where r.tenant_id = p_tenant;
  end if;
end
$$;
