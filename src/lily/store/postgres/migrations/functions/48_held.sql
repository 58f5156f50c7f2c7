-- Whether a newer statement of all its fields leaves everything else in a stored layer as it is: each other field has a clock
-- of its own, and nothing that is held is shown again or ends (lily.model.held). For layers that have such clocks.
create or replace function keeps_clocked("values" jsonb, clocks jsonb, fields jsonb, keys text[]) returns boolean
language sql immutable parallel safe as $$
  select "values" - keys - array(select jsonb_object_keys(clocks)) = '{}'
     and (not fields ? 'tags' or fields -> 'tags' = "values" -> 'tags')
     and (not fields ? '$parent' or fields -> '$parent' = "values" -> '$parent')
     and not (clocks::text like '%"$held%'
              and (fields ?| array['$authorised', '$authorised_parent'] or fields::text like '%"$released%'))
$$;

-- The names of the tags that any layer holds, as {tag: its name}. Each layer is read once: an asset may hold thousands.
create or replace function held_names(source jsonb, enriched jsonb, "user" jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(substr(f.key, 7), f.value order by layer.number), '{}')
  from (values (1, source), (2, enriched), (3, "user")) as layer (number, fields)
  cross join lateral jsonb_each(layer.fields) as f
  where f.key ^@ '$held:'
$$;

-- The names of the tags that any layer shows or holds, as {tag: its name}. A person's spelling comes first, and what is shown
-- before what is held.
create or replace function tag_names(source jsonb, enriched jsonb, "user" jsonb) returns jsonb
language sql immutable parallel safe as $$
  select held_names(source, enriched, "user") || coalesce(source -> 'tags', '{}') || coalesce(enriched -> 'tags', '{}')
         || coalesce("user" -> 'tags', '{}')
$$;

-- The tags of the enriched layer, and those that any layer holds, as {tag: its name}: neither are shown, and both count where
-- they are protective. Null if there are none.
create or replace function enriched_or_held(held text[], source jsonb, enriched jsonb, "user" jsonb) returns jsonb
language sql immutable parallel safe as $$
  select case when held is null then enriched -> 'tags' else (
    select jsonb_object_agg(t.tag, n.names -> t.tag)
    from (select held_names(source, enriched, "user") as names offset 0) n cross join unnest(held) as t (tag)
  ) || coalesce(enriched -> 'tags', '{}') end
$$;

-- The parents of a node of the graph along which tags come down: the one that is shown, and those that are held. `offset 0`
-- keeps `is not null` from the look-up: it is the condition of a partial index, which the planner would read from end to end
-- where its statistics say that few nodes have a parent.
create or replace function conducting_parents(p_tenant text, p_id uuid) returns table (parent uuid)
language sql stable as $$
  select g.parent
  from (select n.parent from graph_nodes n where n.id = p_id and n.tenant_id = p_tenant offset 0) g
  where g.parent is not null
  union all
  select h.parent from held_parents h where h.id = p_id and h.tenant_id = p_tenant
$$;

-- The nodes of the graph to which tags come down from an asset.
create or replace function conducting_children(p_tenant text, p_id uuid) returns table (id uuid)
language sql stable as $$
  select g.id from graph_nodes g where g.parent = p_id and g.tenant_id = p_tenant
  union all
  select h.id from held_parents h where h.parent = p_id and h.tenant_id = p_tenant
$$;

-- Brings the held parents of these nodes in line with their assets, and returns the nodes for which they differed. While an
-- asset waits for what the lake has of it, the parent that the graph had from there counts, unless an authorised statement
-- gave it another. The lake itself gives those of the nodes that only it has.
create or replace function sync_held_parents(p_tenant text, p_ids uuid[], p_before uuid[]) returns setof uuid
language plpgsql
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off
as $$
begin
  return query
  with wanted as materialized (
    select n.id, w.parent
    from unnest(p_ids, p_before) as n (id, parent_before)
    cross join lateral (select * from assets a where a.tenant_id = p_tenant and a.id = n.id offset 0) a
    cross join lateral (
      select h.parent from unnest(a.held_parents) as h (parent)
      union
      select n.parent_before
      where a.awaits_lake and n.parent_before <> coalesce(a.parent::uuid, '00000000-0000-0000-0000-000000000000')
        and not coalesce(a.source ? '$authorised_parent', false) and not coalesce(a."user" @> '{"$covers": true}', false)
    ) w
  ),
  gone as (
    delete from held_parents h using unnest(p_ids) as n (id)
    where h.id = n.id and h.tenant_id = p_tenant
      and exists (
        select from assets a
        where a.tenant_id = p_tenant and a.id = n.id
          and (not a.awaits_lake or a.source ? '$authorised_parent' or a."user" @> '{"$covers": true}'
               or a.parent = h.parent::text))
      and not exists (select from wanted w where w.id = h.id and w.parent = h.parent)
    returning h.id
  ),
  new as (
    insert into held_parents (tenant_id, id, parent) select p_tenant, w.id, w.parent from wanted w
    on conflict do nothing
    returning held_parents.id
  )
  select g.id from gone g union select n.id from new n;
end
$$;

-- The held parents of an asset: its own, or for one that only the lake has those of the graph.
create or replace function held_parents_of(p_tenant text, p_id uuid) returns table (parent uuid)
language sql stable as $$
  select h.parent from assets a cross join lateral unnest(a.held_parents) as h (parent)
  where a.tenant_id = p_tenant and a.id = p_id and a.held_parents is not null
  union
  select h.parent from held_parents h where h.id = p_id and h.tenant_id = p_tenant
$$;

-- Of the events that made a change together, the newest: they may have arrived in another order.
create or replace function newest_cause(causes jsonb) returns jsonb
language sql immutable parallel safe as $$
  select c.cause from jsonb_array_elements(causes) with ordinality as c (cause, number)
  order by c.cause ->> 'time' desc nulls last, c.number desc limit 1
$$;
