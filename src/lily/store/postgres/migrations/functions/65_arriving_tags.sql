-- The tags that propagation would derive for these assets from what is committed now: what decisions use while propagation
-- has not caught up. Walks up from the assets, then down again from what states a tag.
--
-- It fails closed. If there are more than `p_bound` pairs of a tag and an asset to walk beside the given assets, every tag
-- that propagates arrives. An asset on the way of which it is not known what is above it counts as one that states every
-- tag. What is inherited is included. `content` is false for what arrives as an influence only, which is not inherited.
--
-- Plans are made as in 60_propagate.sql, for the reasons given there.
create or replace function arriving_tags(p_tenant text, p_cut boolean, p_ids uuid[], p_bound integer default 10000)
returns table (asset_id uuid, tag text, content boolean)
language plpgsql stable
set join_collapse_limit = 1 set from_collapse_limit = 1 set enable_seqscan = off set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  most       bigint := p_bound + cardinality(p_ids) * (
    select count(*) from tags f where f.tenant_id = p_tenant and f.propagates);
  tags_above text[];
  ids_above  uuid[];
begin
  with recursive above (tag, id) as (
    select f.key, n.id
    from tags f cross join unnest(p_ids) as n (id)
    where f.tenant_id = p_tenant and f.propagates and n.id is not null
    union
    select a.tag, s.from_id from above a cross join lateral steps_into(p_tenant, a.tag, a.id) s
  )
  select array_agg(a.tag), array_agg(a.id) into tags_above, ids_above
  from (select tag, id from above limit most + 1) a;

  if cardinality(ids_above) > most then
    return query
    select n.id, f.key, true from tags f cross join unnest(p_ids) as n (id)
    where f.tenant_id = p_tenant and f.propagates and n.id is not null;
    return;
  end if;

  return query
  with recursive steps as materialized (
    select a.tag, s.from_id, a.id as to_id, s.edges, s.influences
    from unnest(tags_above, ids_above) as a (tag, id)
    cross join lateral steps_into(p_tenant, a.tag, a.id) s
  ),
  -- What each asset on the way does with a tag: it is an origin, or it passes on what arrives, or it stops it.
  passing as materialized (
    select p.tag, p.id,
           p.tag = any (coalesce(s.stated, '{}')) or s.id is null and coalesce(g.awaits_lake, true)
           or coalesce(s.awaits_lake and s.parent is null, false) as origin,
           p.tag = any (coalesce(s.suppressed, '{}')) as suppressed
    from (select distinct st.tag, st.from_id as id from steps st) p
    left join lateral (
      select a.id, a.stated, a.suppressed, a.is_cut, a.awaits_lake, a.parent
      from assets a where a.tenant_id = p_tenant and a.id = p.id offset 0
    ) s on true
    left join lateral (
      select n.awaits_lake from graph_nodes n where n.tenant_id = p_tenant and n.id = p.id offset 0
    ) g on true
    where not (p_cut and coalesce(s.is_cut, false))
  ),
  -- The edges behind it count only for tags with a largest depth: without one, each pair is visited once.
  down (tag, id, depth, content) as (
    select p.tag, p.id, 0, true from passing p where p.origin
    union
    select s.tag, s.to_id, case when f.max_depth is null then 0 else d.depth + s.edges end, d.content and not s.influences
    from down d
    join tags f on f.tenant_id = p_tenant and f.key = d.tag
    join steps s on s.tag = d.tag and s.from_id = d.id
    join passing p on p.tag = d.tag and p.id = d.id
    where (p.origin or not p.suppressed) and (f.max_depth is null or d.depth + s.edges <= f.max_depth)
      and (d.content or s.edges = 1)
  )
  select s.to_id, s.tag, bool_or(d.content and not s.influences)
  from down d
  join tags f on f.tenant_id = p_tenant and f.key = d.tag
  join steps s on s.tag = d.tag and s.from_id = d.id
  join passing p on p.tag = d.tag and p.id = d.id
  where (p.origin or not p.suppressed) and (f.max_depth is null or d.depth + s.edges <= f.max_depth)
    and (d.content or s.edges = 1) and s.to_id = any (p_ids)
  group by s.to_id, s.tag;
end
$$;

-- From where a tag can come to an asset in one step, whether that step is an edge (1) or down the hierarchy (0), and whether
-- it is an influence. A parent that the graph still has, or has from the lake, counts beside the asset's own, and so does one
-- that is held.
create or replace function steps_into(p_tenant text, p_tag text, p_id uuid)
returns table (from_id uuid, edges integer, influences boolean)
language sql stable as $$
  select e.from_id, 1, e.type = 'influences'
  from tags f cross join lateral (select * from edges e where e.to_id = p_id and e.tenant_id = p_tenant offset 0) e
  where f.tenant_id = p_tenant and f.key = p_tag and f.direction <> 'upstream'
    and passes(e.conduction, e.type, f)
  union all
  select e.to_id, 1, e.type = 'influences'
  from tags f cross join lateral (select * from edges e where e.from_id = p_id and e.tenant_id = p_tenant offset 0) e
  where f.tenant_id = p_tenant and f.key = p_tag and f.direction <> 'downstream'
    and passes(e.conduction, e.type, f)
  union all
  select a.parent::uuid, 0, false from assets a where a.tenant_id = p_tenant and a.id = p_id and a.parent is not null
  union all
  select h.parent, 0, false from assets a cross join lateral unnest(a.held_parents) as h (parent)
  where a.tenant_id = p_tenant and a.id = p_id and a.held_parents is not null
  union all
  select c.parent, 0, false from conducting_parents(p_tenant, p_id) c
$$;
