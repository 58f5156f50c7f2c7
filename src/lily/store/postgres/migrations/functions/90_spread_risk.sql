-- The incidents whose rows may have lost their support: those that are resolved or no longer concern an asset, those with a
-- row that came along an edge which conducts no more, and those with a row that came from an asset below a moved one. What
-- that asset inherits may have changed, and what it has itself may rest on it.
create or replace function risks_to_recompute(
  p_tenant text, p_incidents uuid[], p_from uuid[], p_to uuid[], p_moved uuid[]
)
returns uuid[]
language sql stable
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off set jit = off
as $$
  with recursive below (id) as (
    select distinct m.id from unnest(p_moved) as m (id)
    union
    select c.id from below b cross join lateral children_of(p_tenant, b.id) c
  )
  select coalesce(array_agg(distinct f.incident_id), '{}')
  from (
    select i.incident_id
    from unnest(p_incidents) as i (incident_id)
    where not exists (
        select from incidents n
        where n.tenant_id = p_tenant and n.incident_id = i.incident_id and n.state <> 'resolved')
      or exists (
        select from at_risk r
        where r.tenant_id = p_tenant and r.incident_id = i.incident_id and r.via is null and not exists (
          select from incident_assets o
          where o.tenant_id = p_tenant and o.incident_id = r.incident_id and o.asset_id = r.asset_id))
    union all
    select r.incident_id
    from unnest(p_from, p_to) as m (from_id, to_id)
    cross join lateral (
      select r.incident_id from at_risk r
      where r.tenant_id = p_tenant and r.asset_id = m.to_id and r.via = m.from_id offset 0) r
    where not exists (
      select from edges e
      where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant and not e.is_deleted and e.propagates)
    union all
    select r.incident_id
    from below b
    cross join lateral (
      select e.from_id, e.to_id from edges e where e.from_id = b.id and e.tenant_id = p_tenant offset 0) e
    cross join lateral (
      select r.incident_id from at_risk r
      where r.tenant_id = p_tenant and r.asset_id = e.to_id and r.via = e.from_id offset 0) r
  ) f
$$;

-- Brings `at_risk` in line with what is committed, around what changed: incidents, edges, and assets with another parent.
-- Returns the assets that came under risk and those that are no longer at risk; `own` are those that the incident itself
-- concerns.
--
-- An incident that is not resolved puts at risk its own assets, what is below them in the hierarchy, and everything
-- downstream of that along edges that conduct: any type, masked or not, unless the edge does not propagate. A deleted asset
-- conducts. A row is stored for the incident's own assets and for each asset that was reached along an edge. What is below
-- those inherits the risk and is only walked through.
--
-- Every row rests on its `via`. What is new is added to what is stored. An incident of which a row may have lost its support
-- is computed again from its own assets, so a cycle cannot support itself; of that, the difference is written. So are those
-- of `p_again`.
--
-- The caller has created the temporary table `risk_reached` (at_risk/sql/stage.sql) and holds the tenant's lock. Plans are
-- made as in 60_propagate.sql, for the reasons given there.
drop function if exists spread_risk(text, uuid[], uuid[], uuid[], uuid[], uuid[]);  -- it got a column
create function spread_risk(
  p_tenant text, p_incidents uuid[], p_from uuid[], p_to uuid[], p_moved uuid[], p_again uuid[]
)
returns table (incident_id uuid, asset_id uuid, came boolean, own boolean)
language plpgsql
set join_collapse_limit = 1 set from_collapse_limit = 1
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_material = off set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  whole uuid[] := risks_to_recompute(p_tenant, p_incidents, p_from, p_to, p_moved) || p_again;
  risks uuid[];
  nodes uuid[];
begin
  delete from risk_reached;
  insert into risk_reached (incident_id, asset_id, via, inherited)
  select distinct on (s.incident_id, s.asset_id) s.incident_id, s.asset_id, s.via, s.inherited
  from (
    select o.incident_id, o.asset_id, null::uuid as via, false as inherited
    from unnest(p_incidents || whole) as i (incident_id)
    cross join lateral (
      select o.incident_id, o.asset_id from incident_assets o
      where o.tenant_id = p_tenant and o.incident_id = i.incident_id offset 0) o
    where exists (
      select from incidents n where n.tenant_id = p_tenant and n.incident_id = o.incident_id and n.state <> 'resolved')
      and (o.incident_id = any (whole) or not exists (
        select from at_risk r
        where r.tenant_id = p_tenant and r.asset_id = o.asset_id and r.incident_id = o.incident_id and r.via is null))
    union all
    select r.incident_id, e.to_id, e.from_id, false
    from (select distinct m.from_id, m.to_id from unnest(p_from, p_to) as m (from_id, to_id)) m
    cross join lateral (
      select e.from_id, e.to_id from edges e
      where e.from_id = m.from_id and e.to_id = m.to_id and e.tenant_id = p_tenant and not e.is_deleted and e.propagates
      limit 1) e
    cross join lateral asset_and_above(p_tenant, e.from_id) a
    cross join lateral (
      select r.incident_id from at_risk r where r.tenant_id = p_tenant and r.asset_id = a.id offset 0) r
    where r.incident_id <> all (whole) and not exists (
      select from at_risk k where k.tenant_id = p_tenant and k.asset_id = e.to_id and k.incident_id = r.incident_id)
    union all
    select r.incident_id, m.id, null, true
    from unnest(p_moved) as m (id)
    cross join lateral asset_and_above(p_tenant, m.id) a
    cross join lateral (
      select r.incident_id from at_risk r where r.tenant_id = p_tenant and r.asset_id = a.id offset 0) r
    where r.incident_id <> all (whole) and not exists (
      select from at_risk k where k.tenant_id = p_tenant and k.asset_id = m.id and k.incident_id = r.incident_id)
  ) s
  order by s.incident_id, s.asset_id, s.inherited, s.via nulls first;

  -- Downstream and down the hierarchy, level by level, until nothing new is reached.
  select array_agg(r.incident_id), array_agg(r.asset_id) into risks, nodes from risk_reached r;
  while nodes is not null loop
    with steps as (
      select f.incident_id, e.to_id as asset_id, f.id as via, false as inherited
      from unnest(risks, nodes) as f (incident_id, id)
      cross join lateral (
        select e.to_id from edges e
        where e.from_id = f.id and e.tenant_id = p_tenant and not e.is_deleted and e.propagates offset 0) e
      union all
      select f.incident_id, c.id, null, true
      from unnest(risks, nodes) as f (incident_id, id)
      cross join lateral children_of(p_tenant, f.id) c
    ),
    best as (
      select distinct on (s.incident_id, s.asset_id) s.* from steps s
      where s.incident_id = any (whole) or not exists (
        select from at_risk r
        where r.tenant_id = p_tenant and r.asset_id = s.asset_id and r.incident_id = s.incident_id)
      order by s.incident_id, s.asset_id, s.inherited, s.via
    ),
    taken as (
      insert into risk_reached as r (incident_id, asset_id, via, inherited)
      select b.incident_id, b.asset_id, b.via, b.inherited from best b
      on conflict (incident_id, asset_id) do update set via = excluded.via, inherited = false
      where r.inherited and not excluded.inherited
      returning r.incident_id, r.asset_id, old.asset_id is null as fresh
    )
    select array_agg(t.incident_id), array_agg(t.asset_id) into risks, nodes from taken t where t.fresh;
  end loop;

  return query
  with gone as (
    delete from at_risk r
    where r.tenant_id = p_tenant and r.incident_id = any (whole) and not exists (
      select from risk_reached k
      where k.incident_id = r.incident_id and k.asset_id = r.asset_id and not k.inherited)
    returning r.incident_id, r.asset_id, r.via is null as own
  ),
  written as (
    insert into at_risk as r (tenant_id, asset_id, incident_id, via)
    select p_tenant, k.asset_id, k.incident_id, k.via from risk_reached k where not k.inherited
    on conflict (asset_id, incident_id, tenant_id) do update set via = excluded.via
    where r.via is distinct from excluded.via
    returning r.incident_id, r.asset_id, r.via is null as own, old.asset_id is null as fresh
  )
  select g.incident_id, g.asset_id, false, g.own from gone g
  union all
  select w.incident_id, w.asset_id, true, w.own from written w where w.fresh;
end
$$;
