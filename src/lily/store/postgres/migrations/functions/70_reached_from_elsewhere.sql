-- The derived tags of assets: `propagated` along edges, as stored, and `inherited` down the hierarchy, computed from the
-- ancestors as {tag: its name as the ancestor states it}. An influence on an ancestor is not inherited. Assets without
-- derived tags have no row.
--
-- The ancestors of most assets have no tags. For these, the query per level of the hierarchy is all that a read costs. The
-- parents are parameters because assets that only the lake has are not in the table.
--
-- With `p_lags`, for decisions while propagation has not caught up, what would arrive counts as well as what is stored. With
-- `p_risks`, for reads, also the incidents that put the assets at risk, as a sorted array.
create or replace function reached_from_elsewhere(
  p_tenant text, p_tags text[], p_cut boolean, p_ids uuid[], p_parents uuid[], p_lags boolean default false,
  p_risks boolean default false
)
returns table (asset_id uuid, propagated text[], inherited jsonb, incidents jsonb)
language plpgsql stable as $$
declare
  above   uuid[] := '{}';
  its     uuid[] := '{}';  -- the parent of each, or null
  special uuid[] := '{}';  -- ancestors that add a tag or stop one
  level   uuid[] := array(select distinct p.id from unnest(p_parents) as p (id) where p.id is not null);
  parents uuid[];
  present uuid[];
  marked  uuid[];
  arriving     uuid[] := '{}';  -- what would arrive: assets and, beside them, tags
  arriving_too text[] := '{}';
  arriving_as  boolean[] := '{}';  -- whether each is content
  risks        jsonb;  -- {asset: [incidents]}
begin
  for i in 1 .. 64 loop  -- bounds a hierarchy with a cycle
    exit when level = '{}';
    select coalesce(array_agg(a.id), '{}'), coalesce(array_agg(a.parent::uuid), '{}'),
           coalesce(array_agg(a.id) filter (where a.stated <> '{}' or a.suppressed <> '{}' or a.is_deleted), '{}')
      into present, parents, marked
    from assets a where a.tenant_id = p_tenant and a.id = any (level);
    if cardinality(present) < cardinality(level) then
      -- Some of these are only in the lake; the graph has the parents of those that have lineage below them.
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

  if p_lags then
    select coalesce(array_agg(a.asset_id), '{}'), coalesce(array_agg(a.tag), '{}'), coalesce(array_agg(a.content), '{}')
      into arriving, arriving_too, arriving_as
    from arriving_tags(p_tenant, p_cut, p_ids || above) a;
  end if;

  if p_risks and exists (select from incidents i where i.tenant_id = p_tenant and i.state <> 'resolved') then
    risks := risks_among(p_tenant, p_ids, p_parents, above, its);
  end if;

  if special = '{}' and arriving = '{}' and not exists (
    select from derived_tags d
    where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (above) and d.kind = 'propagated'
  ) then
    return query
    select d.asset_id, array_agg(distinct d.tag), null::jsonb, risks -> d.asset_id::text
    from derived_tags d
    where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_ids) and d.kind <> 'inherited'
    group by d.asset_id;
    if risks is not null then
      return query
      select k.key::uuid, null::text[], null::jsonb, k.value
      from jsonb_each(risks) as k
      where not exists (
        select from derived_tags d
        where d.asset_id = k.key::uuid and d.tag = any (p_tags) and d.kind <> 'inherited' and d.tenant_id = p_tenant);
    end if;
    return;
  end if;

  return query
  with recursive arrived as materialized (
    select r.id, array_agg(distinct r.tag) as tags, array_agg(distinct r.tag) filter (where r.content) as content
    from (
      select d.asset_id, d.tag, d.kind = 'propagated'
      from derived_tags d
      where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_ids || above)
        and d.kind <> 'inherited'
      union all
      select a.id, a.tag, a.content from unnest(arriving, arriving_too, arriving_as) as a (id, tag, content)
    ) r (id, tag, content)
    group by r.id
  ),
  nodes as materialized (
    select distinct on (n.id) n.id, n.parent, coalesce(a.stated, '{}') as stated,
           coalesce(a.suppressed, '{}') as suppressed, coalesce(r.content, '{}') as arrived
    from unnest(above, its) as n (id, parent)
    left join (
      select s.id, s.stated, s.suppressed, s.is_deleted from assets s
      where s.tenant_id = p_tenant and s.id = any (special)
    ) a on a.id = n.id
    left join arrived r on r.id = n.id
    where not (p_cut and coalesce(a.is_deleted, false))
  ),
  -- From each parent upwards. A tag that an ancestor suppresses is not inherited from above it.
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
  -- The tags in p_tags are defined, so the caller knows their names.
  named as (
    select c.root, jsonb_object_agg(c.tag, case when c.tag = any (p_tags) then c.tag else (
      select coalesce(a."user" -> 'tags' ->> c.tag, a.enriched -> 'tags' ->> c.tag, a.source -> 'tags' ->> c.tag)
      from assets a where a.tenant_id = p_tenant and a.id = c.from_id) end) as tags
    from carried c
    group by c.root
  )
  select asked.id, r.tags, n.tags, risks -> asked.id::text
  from unnest(p_ids, p_parents) as asked (id, parent)
  left join arrived r on r.id = asked.id
  left join named n on n.root = asked.parent
  where r.tags is not null or n.tags is not null or risks ? asked.id::text;
end
$$;
