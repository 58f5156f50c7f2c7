-- The lineage graph, the tags that travel along it, and who decides how they do.

-- What a tenant decides ---------------------------------------------------------------------------------------------

-- Whether a deleted asset still conducts tags to what was derived from it.
alter table tenants add column on_delete text not null default 'keep' check (on_delete in ('keep', 'cut'));

create table tags (
  tenant_id         text not null references tenants,
  key               text collate "C" not null,  -- the name, folded
  name              text not null,              -- as first defined
  propagates        boolean not null default false,
  direction         text not null default 'downstream' check (direction in ('downstream', 'upstream', 'both')),
  max_depth         integer check (max_depth >= 1),
  edge_types        text[],                     -- null: all
  stopped_by_masking boolean not null default false,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (tenant_id, key)
);

-- Every tenant has the two that the law asks for.
create function define_legal_tags() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into tags (tenant_id, key, name, propagates, stopped_by_masking)
  values (new.id, 'pii', 'PII', true, true), (new.id, 'gdpr', 'GDPR', true, false);
  return new;
end
$$;
create trigger legal_tags after insert on tenants for each row execute function define_legal_tags();
insert into tags (tenant_id, key, name, propagates, stopped_by_masking)
select id, key, name, true, key = 'pii' from tenants, (values ('pii', 'PII'), ('gdpr', 'GDPR')) as legal (key, name);

-- What an asset brings to the graph ----------------------------------------------------------------------------------

-- The tags of any layer, folded: a tag that travels sets out wherever one layer states it.
create function stated_tags(source jsonb, enriched jsonb, "user" jsonb) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct tag order by tag), '{}')
  from unnest(array[source -> 'tags', enriched -> 'tags', "user" -> 'tags']) as layer (tags),
       jsonb_object_keys(coalesce(tags, '{}')) as stated (tag)
$$;

create function suppressed_tags("user" jsonb) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(substr(key, 13) order by key), '{}')
  from jsonb_object_keys("user") as key
  where key ^@ '$suppressed:'
$$;

alter table assets
  add column stated text[] collate "C" generated always as (
    case when source ? 'tags' or enriched ? 'tags' or "user" ? 'tags'
         then stated_tags(source, enriched, "user") else '{}' end) stored,
  add column suppressed text[] collate "C" generated always as (
    case when "user" is null then '{}' else suppressed_tags("user") end) stored;
create index assets_by_stated on assets using gin (stated) where stated <> '{}';
create index assets_suppressing on assets (tenant_id, id) where suppressed <> '{}';

-- The graph ----------------------------------------------------------------------------------------------------------

-- An edge points the way data flows. Its assets may come later, or live in the lake alone: no foreign keys.
-- Indexes here begin with an id and not with the tenant. An id belongs to one tenant anyway; but of a tenant that came
-- after the last ANALYZE the planner believes that it has no rows, and would scan all of them by any index that begins
-- with it.
create table edges (
  tenant_id     text not null,
  from_id       uuid not null,
  to_id         uuid not null,
  type          text collate "C" not null,
  -- Layers as those of an asset: see lily.model.layers.
  source        jsonb,
  source_at     text collate "C",
  source_clocks jsonb,
  "user"        jsonb,
  user_at       text collate "C",
  user_clocks   jsonb,
  claimed       boolean not null default false,  -- the run of some job names it
  claims_mask   boolean not null default false,  -- and all of those say that what passes is masked
  version       integer not null default 1,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  propagates    boolean generated always as (
    coalesce(("user" ->> 'propagates')::boolean, (source ->> 'propagates')::boolean, true)) stored,
  -- Masked only where everyone who states the edge says so; a person's word counts before theirs.
  masking       boolean generated always as (
    coalesce(("user" ->> 'masking')::boolean,
             (not claimed or claims_mask)
             and (coalesce((source ->> 'masking')::boolean, false)
                  or claimed and coalesce((source ->> '$deleted')::boolean, true)))) stored,
  -- A person's word outlives every refresh; else it is there as long as a source or a job states it.
  is_deleted    boolean generated always as (
    coalesce(("user" ->> '$deleted')::boolean,
             not claimed and coalesce((source ->> '$deleted')::boolean, true))) stored,
  primary key (from_id, to_id, type, tenant_id)
) with (fillfactor = 90);
create index edges_into on edges (to_id, from_id);

-- What a job's run claims. A claim lives until another run of the job completes later than it was made; only live ones
-- are kept.
create table jobs (
  tenant_id    text not null,
  job_id       uuid not null,
  run          text not null,               -- the newest that completed
  completed_at text collate "C" not null,   -- the clock of that event
  others_at    text collate "C",            -- the newest completion of any other run
  primary key (job_id, tenant_id)
);
create table claims (
  tenant_id text not null,
  job_id    uuid not null,
  run       text not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  masking   boolean not null,
  at        text collate "C" not null,
  primary key (job_id, run, from_id, to_id, type, tenant_id)
);
create index claims_of_edge on claims (from_id, to_id, type);

-- The outbox and the history of edges. Its positions and those of `changes` are of one sequence.
create table edge_changes (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  from_id      uuid not null,
  to_id        uuid not null,
  type         text not null,
  before       jsonb,           -- {propagates, masking, is_deleted}; null: the edge is new
  after        jsonb not null,
  causes       jsonb not null,
  committed_at timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);
create index edge_changes_of_edge on edge_changes (from_id, to_id, position);

-- The ends of edges and what is above them, with the one parent of each: the part of the hierarchy along which
-- tags can reach an edge. Kept by propagation; a column that only the lake knows gets its parent from there, and what
-- a graph shows of it, so that thousands of columns are shown without a look into the lake.
create table graph_nodes (
  tenant_id      text not null,
  id             uuid not null,
  parent         uuid,
  awaits_lake    boolean not null default false,
  qualified_name text,     -- null where PostgreSQL has the asset, and where nobody knows it
  name           text,
  entity_type    text,
  is_deleted     boolean not null default false,
  primary key (id, tenant_id)
);
create index graph_children on graph_nodes (parent) where parent is not null;
create index graph_awaiting_lake on graph_nodes (id) where awaits_lake;

-- What travelled -----------------------------------------------------------------------------------------------------

-- One support for each asset, tag and way it came: the neighbour `via` has it too, one step nearer to an origin, so
-- following `via` tells a path. `depth` counts edges, `steps` also the steps down the hierarchy; together, compared in
-- that order, they grow along every path, so supports never go round in a circle. Not stored where the asset states
-- the tag itself. `inherited` is stored for the ends of edges and what is above them only.
create table derived_tags (
  tenant_id text not null,
  tag       text collate "C" not null,
  asset_id  uuid not null,
  kind      text collate "C" not null check (kind in ('propagated', 'inherited')),
  via       uuid not null,
  depth     integer not null,
  steps     integer not null,
  root      uuid not null,  -- the asset whose change brought it
  since     timestamptz not null default clock_timestamp(),
  primary key (asset_id, tag, kind, tenant_id)
);
create index derived_by_support on derived_tags (via, tag);
create index derived_by_tag on derived_tags ((tenant_id || '/' || tag), asset_id);

-- What one change caused: the receipt.
create table propagations (
  tenant_id   text not null,
  position    bigint not null,  -- of the change
  root        uuid not null,    -- the asset at which it began
  correlation text,             -- of the write that made the change
  reached     integer not null, -- assets that got or lost a derived tag by it
  depth       integer not null,
  started_at  timestamptz not null,
  finished_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, position)
);
create index propagations_of_write on propagations (correlation, tenant_id) where correlation is not null;

-- The outbox of derived tags: many assets a row.
create table propagated (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  tag          text not null,
  change       text not null check (change in ('added', 'removed', 'new-origin')),
  root         uuid not null,   -- the asset whose change caused it
  assets       uuid[] not null,
  committed_at timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);

-- The outbox of what administrators decide: tag definitions and the tenant's settings.
create table decisions (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  kind         text not null,   -- tag, setting
  name         text not null,
  before       jsonb,
  after        jsonb,
  by           text not null,
  committed_at timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);

-- Origins that reached an asset after a person suppressed the tag there.
create table new_origins (
  tenant_id text not null,
  asset_id  uuid not null,
  tag       text collate "C" not null,
  origin    uuid not null,
  since     timestamptz not null default clock_timestamp(),
  primary key (tenant_id, asset_id, tag, origin)
);

-- Where the change log ended when a batch had been published: past that, whoever reads it has seen the batch.
alter table batches add column ends jsonb;  -- {topic: {partition: next offset}}

-- What of the log a batch applied: so that whoever wrote it can wait until it has travelled.
alter table batches
  add column topic        text,
  add column partition    integer,
  add column begin_offset bigint,
  add column end_offset   bigint;
create index batches_by_intake on batches (topic, partition, end_offset) where topic is not null;

-- The label of a tag at an asset, as it leaves from there: (0, 0) where the asset states it, else the smallest of its
-- supports; nothing where it does not have it, where a person suppressed it, or where the asset is deleted and that cuts.
create function carried(p_tenant text, p_tag text, p_id uuid, p_cut boolean)
returns table (depth integer, steps integer)
language sql stable as $$
  select label.depth, label.steps
  from (values (1)) as one (row)
  left join lateral (
    select stated, suppressed, is_deleted from assets where tenant_id = p_tenant and id = p_id offset 0
  ) a on true
  cross join lateral (
    select 0 as depth, 0 as steps where p_tag = any (a.stated)
    union all
    (select d.depth, d.steps
     from derived_tags d
     where d.tenant_id = p_tenant and d.tag = p_tag and d.asset_id = p_id
       and p_tag <> all (coalesce(a.stated, '{}')) and p_tag <> all (coalesce(a.suppressed, '{}'))
     order by d.depth, d.steps
     limit 1)
  ) as label
  where not (p_cut and coalesce(a.is_deleted, false))
$$;

-- Whether an edge lets a tag pass, the definition being given.
create function passes(is_deleted boolean, propagates boolean, masking boolean, type text, f tags) returns boolean
language sql immutable as $$
  select not is_deleted and propagates and not (masking and f.stopped_by_masking)
         and (f.edge_types is null or type = any (f.edge_types))
$$;

create function passes(e edges, f tags) returns boolean
language sql immutable as $$
  select passes(e.is_deleted, e.propagates, e.masking, e.type, f)
$$;

-- Brings what is derived in one tenant in line with what is committed, around what was marked.
--
-- The caller has filled the temporary tables `marked` (assets whose tags, suppressions, deletion or parent changed) and
-- `marked_edges`, and holds the tenant's lock. Afterwards `touched` names every asset and tag whose standing may have
-- changed, with whether it stood before.
--
-- Labels (depth, steps) are shortest distances to an origin. What lost its support is retracted, and with it all that
-- rested on it, however it might still be reached; then the best that the neighbours offer is taken up, level by level.
-- So a circle cannot support itself, and the result is that of a full recomputation.
create function propagate(p_tenant text) returns void
language plpgsql
-- Few rows at a time meet tables of any size: always from the few to the many, by index. `offset 0` keeps the planner
-- from turning that round, which it would for a tenant that it has no statistics of.
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off set jit = off
-- A plan made while a table was empty would stay when it has grown under it.
set plan_cache_mode = force_custom_plan
as $$
declare
  cut   boolean := (select on_delete = 'cut' from tenants where id = p_tenant);
  -- Whether any asset may hold a tag up: in most tenants none does, and then nobody has to be asked.
  holds boolean := cut or exists (select from assets where tenant_id = p_tenant and suppressed <> '{}');
  nodes uuid[];
  roots uuid[];
  names text[];
  kinds text[];
  depths integer[];
  hops   integer[];
begin
  -- The hierarchy above the ends of edges.
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
    on conflict (tenant_id, id) do update set parent = excluded.parent, awaits_lake = false
    where not excluded.awaits_lake and (g.awaits_lake or g.parent is distinct from excluded.parent)
    returning g.id
  )
  select array_agg(id) into nodes from placed;
  -- Also above those whose parent the lake has told.
  nodes := nullif(coalesce(nodes, '{}') || array(
    select c.id from concerned c
    cross join lateral (
      select parent from graph_nodes g
      where g.id = c.id and g.tenant_id = p_tenant and g.parent is not null offset 0) g
    where (select count(*) from graph_nodes p where p.id = g.parent and p.tenant_id = p_tenant) = 0), '{}');
  delete from marked m where not exists (select from graph_nodes g where g.tenant_id = p_tenant and g.id = m.id);
  while nodes is not null loop
    insert into marked (id, root, whole)
    select c.id, c.root, false from unnest(nodes) as n (id) join concerned c on c.id = n.id
    on conflict do nothing;
    insert into concerned (id, root)
    select g.parent, c.root
    from unnest(nodes) as n (id)
    join concerned c on c.id = n.id
    cross join lateral (
      select parent from graph_nodes g
      where g.id = n.id and g.tenant_id = p_tenant and g.parent is not null offset 0) g
    on conflict do nothing;
    with placed as (
      insert into graph_nodes as g (tenant_id, id, parent, awaits_lake)
      select p_tenant, b.id, a.parent::uuid, a.id is null
      from (
        select distinct g.parent as id from unnest(nodes) as n (id)
        cross join lateral (
          select parent from graph_nodes g
          where g.id = n.id and g.tenant_id = p_tenant and g.parent is not null offset 0) g
      ) b
      left join assets a on a.tenant_id = p_tenant and a.id = b.id
      on conflict do nothing
      returning g.id
    )
    select array_agg(id) into nodes from placed;
  end loop;

  -- Retract what is not supported any more, and what rested on it.
  select array_agg(s.tag), array_agg(s.asset_id), array_agg(s.kind), array_agg(s.root) into names, nodes, kinds, roots
  from (
    select d.tag, d.asset_id, d.kind, m.root
    from tags f cross join marked m
    cross join lateral (
      select * from derived_tags d where d.asset_id = m.id and d.tag = f.key and d.tenant_id = p_tenant offset 0) d
    where f.tenant_id = p_tenant
    union all
    select d.tag, d.asset_id, d.kind, m.root
    from tags f cross join marked m
    cross join lateral (
      select * from derived_tags d where d.via = m.id and d.tag = f.key and d.tenant_id = p_tenant offset 0) d
    where f.tenant_id = p_tenant and m.whole
    union all
    select d.tag, d.asset_id, d.kind, m.root
    from tags f cross join marked_edges m
    cross join lateral (
      select * from derived_tags d
      where d.asset_id in (m.to_id, m.from_id) and d.tag = f.key and d.kind = 'propagated' and d.tenant_id = p_tenant
      offset 0) d
    where f.tenant_id = p_tenant and d.via in (m.to_id, m.from_id)
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
            select from graph_nodes g cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where g.tenant_id = p_tenant and g.id = d.asset_id and g.parent = d.via
              and (c.depth, c.steps + 1) <= (d.depth, d.steps))
          or d.kind = 'propagated' and not exists (
            select from tags f
            cross join lateral (
              select * from edges e where e.from_id = d.via and e.to_id = d.asset_id and e.tenant_id = p_tenant offset 0) e
            cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where f.tenant_id = p_tenant and f.key = d.tag and f.propagates and f.direction <> 'upstream' and passes(e.is_deleted, e.propagates, e.masking, e.type, f)
              and (c.depth + 1, c.steps + 1) <= (d.depth, d.steps) and c.depth < coalesce(f.max_depth, c.depth + 1))
            and not exists (
            select from tags f
            cross join lateral (
              select * from edges e where e.from_id = d.asset_id and e.to_id = d.via and e.tenant_id = p_tenant offset 0) e
            cross join lateral carried(p_tenant, d.tag, d.via, cut) c
            where f.tenant_id = p_tenant and f.key = d.tag and f.propagates and f.direction <> 'downstream' and passes(e.is_deleted, e.propagates, e.masking, e.type, f)
              and (c.depth + 1, c.steps + 1) <= (d.depth, d.steps) and c.depth < coalesce(f.max_depth, c.depth + 1))
        )
    ),
    retracted as (
      delete from derived_tags where ctid = any (array(select place from broken))
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

  -- What the neighbours offer to those that lost something or were marked.
  with seeds as (
    select tag, id, root from touched
    union
    select f.key, m.id, m.root from tags f cross join marked m where f.tenant_id = p_tenant and f.propagates and m.whole
  ),
  placed as (  -- what has just come into the graph: its edges are marked themselves, so only what is above it counts
    select tag, id, root from seeds
    union all
    select f.key, m.id, m.root from tags f cross join marked m
    where f.tenant_id = p_tenant and f.propagates and not m.whole
  ),
  offers as (
    select s.tag, s.id, 'propagated' as kind, e.from_id as via, c.depth + 1 as depth, c.steps + 1 as steps, s.root
    from seeds s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates and f.direction <> 'upstream'
    cross join lateral (select * from edges e where e.to_id = s.id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, s.tag, e.from_id, cut) c
    where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select s.tag, s.id, 'propagated', e.to_id, c.depth + 1, c.steps + 1, s.root
    from seeds s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates and f.direction <> 'downstream'
    cross join lateral (select * from edges e where e.from_id = s.id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, s.tag, e.to_id, cut) c
    where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select s.tag, s.id, 'inherited', g.parent, c.depth, c.steps + 1, s.root
    from placed s
    join tags f on f.tenant_id = p_tenant and f.key = s.tag and f.propagates
    cross join lateral (
      select parent from graph_nodes g
      where g.id = s.id and g.tenant_id = p_tenant and g.parent is not null
      offset 0) g
    cross join lateral carried(p_tenant, s.tag, g.parent, cut) c
    union all
    select f.key, m.to_id, 'propagated', m.from_id, c.depth + 1, c.steps + 1, m.root
    from marked_edges m
    join tags f on f.tenant_id = p_tenant and f.propagates and f.direction <> 'upstream'
    cross join lateral (
      select * from edges e where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, f.key, m.from_id, cut) c
    where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
    union all
    select f.key, m.from_id, 'propagated', m.to_id, c.depth + 1, c.steps + 1, m.root
    from marked_edges m
    join tags f on f.tenant_id = p_tenant and f.propagates and f.direction <> 'downstream'
    cross join lateral (
      select * from edges e where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant offset 0) e
    cross join lateral carried(p_tenant, f.key, m.to_id, cut) c
    where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and c.depth < coalesce(f.max_depth, c.depth + 1)
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
    returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh
  ),
  noted as (
    insert into touched (tag, id, root, had)
    select distinct on (t.tag, t.asset_id) t.tag, t.asset_id, t.root, false
    from taken t
    where t.fresh
    order by t.tag, t.asset_id
    on conflict do nothing
  )
  select array_agg(tag), array_agg(id), array_agg(depth), array_agg(steps), array_agg(root)
  into names, nodes, depths, hops, roots
  from (
    select tag, asset_id as id, depth, steps, root from taken
    union all
    select f.key, m.id, c.depth, c.steps, m.root
    from tags f cross join marked m cross join lateral carried(p_tenant, f.key, m.id, cut) c
    where f.tenant_id = p_tenant and f.propagates and m.whole
  ) changed;

  -- And what they offer in turn, a level at a time, until nobody gains by it.
  while nodes is not null loop
    with frontier as (
      select distinct on (n.tag, n.id) n.tag, n.id, n.depth, n.steps, n.root
      from unnest(names, nodes, depths, hops, roots) as n (tag, id, depth, steps, root)
      where not holds or not coalesce((
        select not n.tag = any (a.stated) and n.tag = any (a.suppressed) or cut and a.is_deleted
        from assets a where a.tenant_id = p_tenant and a.id = n.id), false)
      order by n.tag, n.id, n.depth, n.steps
    ),
    offers as (
      select n.tag, e.to_id as id, 'propagated' as kind, n.id as via, n.depth + 1 as depth, n.steps + 1 as steps, n.root
      from frontier n
      join tags f on f.tenant_id = p_tenant and f.key = n.tag and f.propagates and f.direction <> 'upstream'
      cross join lateral (select * from edges e where e.from_id = n.id and e.tenant_id = p_tenant offset 0) e
      where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and n.depth < coalesce(f.max_depth, n.depth + 1)
      union all
      select n.tag, e.from_id, 'propagated', n.id, n.depth + 1, n.steps + 1, n.root
      from frontier n
      join tags f on f.tenant_id = p_tenant and f.key = n.tag and f.propagates and f.direction <> 'downstream'
      cross join lateral (select * from edges e where e.to_id = n.id and e.tenant_id = p_tenant offset 0) e
      where passes(e.is_deleted, e.propagates, e.masking, e.type, f) and n.depth < coalesce(f.max_depth, n.depth + 1)
      union all
      select n.tag, g.id, 'inherited', n.id, n.depth, n.steps + 1, n.root
      from frontier n
      cross join lateral (
        select id from graph_nodes g where g.parent = n.id and g.tenant_id = p_tenant offset 0) g
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
      returning d.tag, d.asset_id, d.depth, d.steps, d.root, old.tag is null as fresh
    ),
    noted as (
      insert into touched (tag, id, root, had)
      select distinct on (t.tag, t.asset_id) t.tag, t.asset_id, t.root, false
      from taken t
      where t.fresh
      order by t.tag, t.asset_id
      on conflict do nothing
    )
    select array_agg(tag), array_agg(asset_id), array_agg(depth), array_agg(steps), array_agg(root)
    into names, nodes, depths, hops, roots
    from taken;
  end loop;
end
$$;

-- Who may do what ----------------------------------------------------------------------------------------------------

do $$
declare
  guarded text;
begin
  foreach guarded in array array['tags', 'edges', 'jobs', 'claims', 'edge_changes', 'graph_nodes', 'derived_tags',
                                 'propagations', 'propagated', 'decisions', 'new_origins'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy one_tenant on %I to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant())', guarded);
    execute format('create policy every_tenant on %I to lily_pipeline using (true) with check (true)', guarded);
    execute format('create policy administration on %I to current_user using (true) with check (true)', guarded);
    execute format('grant select on %I to lily_api, lily_pipeline', guarded);
  end loop;
end
$$;
create policy every_tenant on audit to lily_pipeline using (true) with check (true);

grant insert on audit to lily_pipeline;
grant insert, update, delete on edges, jobs, claims, graph_nodes, derived_tags, propagations, new_origins to lily_pipeline;
grant insert on edge_changes, propagated to lily_pipeline;
grant usage on sequence changes_position_seq to lily_api, lily_pipeline;
grant insert, update, delete on tags to lily_api;
grant insert on decisions, batches to lily_api;

-- A tenant's setting lives in a table that the serving role must not see as a whole.
create function tenant_settings() returns table (on_delete text)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.on_delete from tenants t where t.id = tenant()
$$;
create function decide_on_delete(value text) returns table (before text, after text)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update tenants set on_delete = value where id = tenant() returning old.on_delete, new.on_delete
$$;
revoke all on function tenant_settings(), decide_on_delete(text) from public;
grant execute on function tenant_settings(), decide_on_delete(text) to lily_api;

-- A tag that travels is looked for wherever it is: stated in any layer, or derived.
create function ids_by_stated(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and stated <> '{}' and stated @> array[tag]
$$;
revoke all on function ids_by_stated(text) from public;
grant execute on function ids_by_stated(text) to lily_api;

-- What reached assets from elsewhere: along edges, as stored, and down the hierarchy, worked out from what is above
-- them as {tag: its name where the ancestor states it}. It tells nothing of an asset that nothing reached.
--
-- Most assets have no tag above them, so the walk upwards that finds that out, a level at a time, is all that a read of
-- them costs. Assets that only the lake knows are asked for with the parents they have there.
create function reached_from_elsewhere(p_tenant text, p_tags text[], p_cut boolean, p_ids uuid[], p_parents uuid[])
returns table (asset_id uuid, propagated text[], inherited jsonb)
language plpgsql stable as $$
declare
  above   uuid[] := '{}';
  its     uuid[] := '{}';  -- the parent of each, where it has one
  special uuid[] := '{}';  -- those that add something to what comes down, or hold it up
  level   uuid[] := array(select distinct p.id from unnest(p_parents) as p (id) where p.id is not null);
  parents uuid[];
  present uuid[];
  marked  uuid[];
begin
  for i in 1 .. 64 loop  -- parents that go round in a circle end here too
    exit when level = '{}';
    select coalesce(array_agg(a.id), '{}'), coalesce(array_agg(a.parent::uuid), '{}'),
           coalesce(array_agg(a.id) filter (where a.stated <> '{}' or a.suppressed <> '{}' or a.is_deleted), '{}')
      into present, parents, marked
    from assets a where a.tenant_id = p_tenant and a.id = any (level);
    if cardinality(present) < cardinality(level) then
      -- Some of these only the lake knows; propagation has learnt the parents of those on the way to an edge.
      select present || coalesce(array_agg(n.id), '{}'), parents || coalesce(array_agg(g.parent), '{}')
        into present, parents
      from unnest(level) as n (id)
      left join graph_nodes g on g.tenant_id = p_tenant and g.id = n.id
      where n.id <> all (present);
    end if;
    above := above || present;
    its := its || parents;
    special := special || marked;
    level := array(select distinct p.id from unnest(parents) as p (id) where p.id is not null);
  end loop;

  if special = '{}' and not exists (
    select from derived_tags d
    where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (above) and d.kind = 'propagated'
  ) then
    return query
    select d.asset_id, array_agg(d.tag), null::jsonb
    from derived_tags d
    where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_ids) and d.kind = 'propagated'
    group by d.asset_id;
    return;
  end if;

  return query
  with recursive arrived as materialized (
    select d.asset_id as id, array_agg(d.tag) as tags
    from derived_tags d
    where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_ids || above)
      and d.kind = 'propagated'
    group by d.asset_id
  ),
  nodes as materialized (
    select distinct on (n.id) n.id, n.parent, coalesce(a.stated, '{}') as stated,
           coalesce(a.suppressed, '{}') as suppressed, coalesce(r.tags, '{}') as arrived
    from unnest(above, its) as n (id, parent)
    left join (
      select s.id, s.stated, s.suppressed, s.is_deleted from assets s
      where s.tenant_id = p_tenant and s.id = any (special)
    ) a on a.id = n.id
    left join arrived r on r.id = n.id
    where not (p_cut and coalesce(a.is_deleted, false))
  ),
  -- From each parent upwards; what is suppressed on the way does not come down past there.
  chain (root, id, parent, level, stated, suppressed, arrived, stopped) as (
    select n.id, n.id, n.parent, 1, n.stated, n.suppressed, n.arrived, '{}'::text[] collate "C"
    from nodes n where n.id = any (p_parents)
    union all
    select c.root, n.id, n.parent, c.level + 1, n.stated, n.suppressed, n.arrived, c.stopped || c.suppressed
    from chain c join nodes n on n.id = c.parent
    where c.level < 64
  ),
  carried as (
    select distinct on (c.root, t.tag) c.root, t.tag, c.id as from_id
    from chain c
    cross join lateral (
      select s.tag from unnest(c.stated) as s (tag)
      union all
      select r.tag from unnest(c.arrived) as r (tag) where r.tag <> all (c.suppressed)
    ) t
    where (c.stated <> '{}' or c.arrived <> '{}') and t.tag <> all (c.stopped)
    order by c.root, t.tag, c.level
  ),
  -- Those that are asked for have definitions, which say their names.
  named as (
    select c.root, jsonb_object_agg(c.tag, case when c.tag = any (p_tags) then c.tag else (
      select coalesce(a."user" -> 'tags' ->> c.tag, a.enriched -> 'tags' ->> c.tag, a.source -> 'tags' ->> c.tag)
      from assets a where a.tenant_id = p_tenant and a.id = c.from_id) end) as tags
    from carried c
    group by c.root
  )
  select asked.id, r.tags, n.tags
  from unnest(p_ids, p_parents) as asked (id, parent)
  left join arrived r on r.id = asked.id
  left join named n on n.root = asked.parent
  where r.tags is not null or n.tags is not null;
end
$$;
