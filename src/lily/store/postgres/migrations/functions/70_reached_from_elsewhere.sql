-- The tags that an asset states, and whether each is only held. By groups, because an asset may hold thousands.
create or replace function stated_or_held(stated text[], held text[]) returns table (tag text, held boolean)
language sql immutable parallel safe as $$
  select t.tag, bool_or(t.held)
  from (
    select s.tag, false from unnest(stated) as s (tag) union all select h.tag, true from unnest(held) as h (tag)
  ) t (tag, held)
  group by t.tag
$$;

-- The names of tags that come down from an ancestor: as it states them, else the tag itself; in a list if the tag is held. The
-- ancestor is read once for all of them.
create or replace function names_on_ancestor(p_tenant text, p_id uuid, p_tags text[], p_held boolean[])
returns table (tag text, name jsonb)
language sql stable as $$
  select t.tag, case when t.held then jsonb_build_array(n.name) else n.name end
  from (values (1)) as one (row)
  left join lateral (
    select tag_names(a.source, a.enriched, a."user") as names from assets a
    where a.tenant_id = p_tenant and a.id = p_id offset 0
  ) own on true
  cross join lateral unnest(p_tags, p_held) as t (tag, held)
  cross join lateral (select coalesce(own.names -> t.tag, to_jsonb(t.tag)) as name) n
$$;

-- The derived tags of assets: `propagated` along edges, as stored, and `inherited` down the hierarchy, computed from the
-- ancestors as {tag: its name as the ancestor states it}. What an ancestor only holds counts where it is protective: its name
-- is in a list, {tag: [name]}. An influence on an ancestor is not inherited. Assets without derived tags have no row.
--
-- The ancestors of most assets have no tags. For these, the query per level of the hierarchy is all that a read costs. The
-- parents are parameters because assets that only the lake has are not in the table.
--
-- With `p_lags`, for decisions while propagation has not caught up, what would arrive counts as well as what is stored. With
-- `p_risks`, for reads, also the incidents that put the assets at risk, as a sorted array.
--
-- A parent that is held passes protective tags down as well. Those of assets in the table are known here; `p_held_ids` and
-- `p_held_parents` have others.
drop function if exists reached_from_elsewhere(text, text[], boolean, uuid[], uuid[], boolean, boolean);  -- it got parameters
create or replace function reached_from_elsewhere(
  p_tenant text, p_tags text[], p_cut boolean, p_ids uuid[], p_parents uuid[], p_lags boolean default false,
  p_risks boolean default false, p_held_ids uuid[] default '{}', p_held_parents uuid[] default '{}'
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
  holding    boolean := p_held_ids <> '{}' or exists (
    select from assets a where a.tenant_id = p_tenant and a.held_parents is not null
  ) or exists (select from held_parents h where h.tenant_id = p_tenant);
  held_ids   uuid[] := p_held_ids;  -- of the assets and of what is above them, and beside each the parent that is held
  held_above uuid[] := p_held_parents;
  more_ids   uuid[];
  more_above uuid[];
begin
  if holding then
    select held_ids || coalesce(array_agg(n.id), '{}'), held_above || coalesce(array_agg(h.parent), '{}')
      into held_ids, held_above
    from unnest(p_ids) as n (id) cross join lateral held_parents_of(p_tenant, n.id) h;
    level := array(select distinct p.id from unnest(level || held_above) as p (id) where p.id is not null);
  end if;
  for i in 1 .. 64 loop  -- bounds a hierarchy with a cycle
    exit when level = '{}';
    select coalesce(array_agg(a.id), '{}'), coalesce(array_agg(a.parent::uuid), '{}'),
           coalesce(array_agg(a.id) filter (where a.stated <> '{}' or a.suppressed <> '{}' or a.is_cut), '{}')
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
    if holding then
      select coalesce(array_agg(n.id), '{}'), coalesce(array_agg(h.parent), '{}') into more_ids, more_above
      from unnest(level) as n (id) cross join lateral held_parents_of(p_tenant, n.id) h;
      held_ids := held_ids || more_ids;
      held_above := held_above || more_above;
      parents := parents || more_above;
      -- What was seen is not looked at again: with several parents each, a cycle would grow.
      level := array(select distinct p.id from unnest(parents) as p (id) where p.id is not null and p.id <> all (above));
    else
      level := array(select distinct p.id from unnest(parents) as p (id) where p.id is not null);
    end if;
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

  if held_ids <> '{}' then
    return query
    with arrived as materialized (
      select r.id, array_agg(distinct r.tag) as tags
      from (
        select d.asset_id, d.tag from derived_tags d
        where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_ids) and d.kind <> 'inherited'
        union all
        select a.id, a.tag from unnest(arriving, arriving_too) as a (id, tag)
      ) r (id, tag)
      group by r.id
    ),
    named as (
      select i.asset_id, jsonb_object_agg(i.tag, i.name) as tags
      from inherited_with_held(p_tenant, p_tags, p_cut, p_ids, p_parents, above, its, held_ids, held_above,
                               arriving, arriving_too, arriving_as) i
      group by i.asset_id
    )
    select asked.id, r.tags, n.tags, risks -> asked.id::text
    from unnest(p_ids) as asked (id)
    left join arrived r on r.id = asked.id
    left join named n on n.asset_id = asked.id
    where r.tags is not null or n.tags is not null or risks ? asked.id::text;
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
    select distinct on (n.id) n.id, n.parent, coalesce(a.stated, '{}') as stated, coalesce(a.held, '{}') as held,
           coalesce(a.suppressed, '{}') as suppressed, coalesce(r.content, '{}') as arrived
    from unnest(above, its) as n (id, parent)
    left join (
      select s.id, s.stated, s.held, s.suppressed, s.is_cut from assets s
      where s.tenant_id = p_tenant and s.id = any (special)
    ) a on a.id = n.id
    left join arrived r on r.id = n.id
    where not (p_cut and coalesce(a.is_cut, false))
  ),
  -- From each parent upwards. A tag that an ancestor suppresses is not inherited from above it.
  chain (root, id, parent, level, stated, held, suppressed, arrived, stopped) as (
    select n.id, n.id, n.parent, 1, n.stated, n.held, n.suppressed, n.arrived, '{}'::text[] collate "C"
    from nodes n where n.id = any (p_parents)
    union all
    select c.root, n.id, n.parent, c.level + 1, n.stated, n.held, n.suppressed, n.arrived, c.stopped || c.suppressed
    from chain c join nodes n on n.id = c.parent
    where c.level < 64
  ),
  carried as (
    select distinct on (c.root, t.tag) c.root, t.tag, c.id as from_id, t.held
    from chain c
    cross join lateral (
      select s.tag, s.held from stated_or_held(c.stated, c.held) s
      union all
      select r.tag, false from unnest(c.arrived) as r (tag) where r.tag <> all (c.suppressed)
    ) t (tag, held)
    where (c.stated <> '{}' or c.arrived <> '{}') and t.tag <> all (c.stopped)
    order by c.root, t.tag, t.held, c.level
  ),
  named as (
    select c.root, jsonb_object_agg(t.tag, t.name) as tags
    from (
      select c.root, c.from_id, array_agg(c.tag) as tags, array_agg(c.held) as held from carried c group by 1, 2
    ) c
    cross join lateral names_on_ancestor(p_tenant, c.from_id, c.tags, c.held) t
    group by c.root
  )
  select asked.id, r.tags, n.tags, risks -> asked.id::text
  from unnest(p_ids, p_parents) as asked (id, parent)
  left join arrived r on r.id = asked.id
  left join named n on n.root = asked.parent
  where r.tags is not null or n.tags is not null or risks ? asked.id::text;
end
$$;

-- What assets inherit, where some of them or of what is above them have parents that are held: an asset then has several
-- parents. `name` is a list where all that the tag comes from or through is held.
create or replace function inherited_with_held(
  p_tenant text, p_tags text[], p_cut boolean, p_ids uuid[], p_parents uuid[], p_above uuid[], p_its uuid[],
  p_held_ids uuid[], p_held_above uuid[], p_arriving uuid[], p_arriving_too text[], p_arriving_as boolean[]
)
returns table (asset_id uuid, tag text, name jsonb)
language sql stable as $$
  with recursive links as materialized (
    select l.id, l.parent, bool_and(l.held) as held
    from (
      select n.id, n.parent, false from unnest(p_above || p_ids, p_its || p_parents) as n (id, parent)
      union all
      select n.id, n.parent, true from unnest(p_held_ids, p_held_above) as n (id, parent)
    ) as l (id, parent, held)
    where l.parent is not null
    group by l.id, l.parent
  ),
  arrived as materialized (
    select r.id, array_agg(distinct r.tag) as tags
    from (
      select d.asset_id, d.tag from derived_tags d
      where d.tenant_id = p_tenant and d.tag = any (p_tags) and d.asset_id = any (p_above) and d.kind = 'propagated'
      union all
      select a.id, a.tag from unnest(p_arriving, p_arriving_too, p_arriving_as) as a (id, tag, content) where a.content
    ) r (id, tag)
    group by r.id
  ),
  nodes as materialized (
    select n.id, coalesce(a.stated, '{}') as stated, coalesce(a.held, '{}') as held,
           coalesce(a.suppressed, '{}') as suppressed, coalesce(r.tags, '{}') as arrived
    from (select distinct u.id from unnest(p_above) as u (id)) n
    left join lateral (
      select s.stated, s.held, s.suppressed, s.is_cut from assets s where s.tenant_id = p_tenant and s.id = n.id offset 0
    ) a on true
    left join arrived r on r.id = n.id
    where not (p_cut and coalesce(a.is_cut, false))
  ),
  -- From each asset upwards, each place once for what was suppressed on the way.
  up (asset_id, id, held, stopped) as (
    select l.id, l.parent, l.held, '{}'::text[] collate "C" from links l where l.id = any (p_ids)
    union
    select up.asset_id, l.parent, up.held or l.held,
           array(select distinct t.tag from unnest(up.stopped || n.suppressed) as t (tag) order by t.tag)
    from up join nodes n on n.id = up.id join links l on l.id = up.id
  ),
  carried as (
    select distinct on (up.asset_id, t.tag) up.asset_id, t.tag, up.id as from_id, up.held or t.held as held
    from up
    join nodes n on n.id = up.id
    cross join lateral (
      select s.tag, s.held from stated_or_held(n.stated, n.held) s
      union all
      select r.tag, false from unnest(n.arrived) as r (tag) where r.tag <> all (n.suppressed)
    ) t (tag, held)
    where t.tag <> all (up.stopped)
    order by up.asset_id, t.tag, up.held or t.held, up.id
  )
  select c.asset_id, t.tag, t.name
  from (
    select c.asset_id, c.from_id, array_agg(c.tag) as tags, array_agg(c.held) as held from carried c group by 1, 2
  ) c
  cross join lateral names_on_ancestor(p_tenant, c.from_id, c.tags, c.held) t
$$;
