-- The incidents that put assets at risk, as {asset: [incident ids, sorted]}: those with a row on the asset or on one above
-- it, given what is above: each with its parent. Null if there are none.
create or replace function risks_among(p_tenant text, p_ids uuid[], p_parents uuid[], p_above uuid[], p_parents_above uuid[])
returns jsonb
language plpgsql stable as $$
declare
  marked uuid[];
  risks  uuid[];
begin
  select array_agg(r.asset_id), array_agg(r.incident_id) into marked, risks
  from at_risk r where r.asset_id = any (p_ids || p_above) and r.tenant_id = p_tenant;
  if marked is null then
    return null;
  end if;
  return (
    with recursive nodes as materialized (
      select distinct n.id, n.parent from unnest(p_above, p_parents_above) as n (id, parent)
    ),
    up (root, id) as (
      select n.id, n.id from nodes n where n.id = any (p_parents)
      union
      select up.root, n.parent from up join nodes n on n.id = up.id where n.parent is not null
    ),
    found as (
      select i.id, m.incident_id
      from unnest(p_ids) as i (id) join unnest(marked, risks) as m (asset_id, incident_id) on m.asset_id = i.id
      union
      select i.id, m.incident_id
      from unnest(p_ids, p_parents) as i (id, parent)
      join up on up.root = i.parent
      join unnest(marked, risks) as m (asset_id, incident_id) on m.asset_id = up.id
    )
    select jsonb_object_agg(f.id, f.incidents)
    from (select id, jsonb_agg(incident_id order by incident_id) as incidents from found group by id) f
  );
end
$$;

-- The same, given the parents of the assets, for lineage graphs.
create or replace function risks_of(p_tenant text, p_ids uuid[], p_parents uuid[]) returns jsonb
language plpgsql stable as $$
declare
  above         uuid[];
  parents_above uuid[];
begin
  if not exists (select from incidents i where i.tenant_id = p_tenant and i.state <> 'resolved') then
    return null;
  end if;
  with recursive up (id, parent) as (
    select p.id, n.parent
    from (select distinct p.id from unnest(p_parents) as p (id) where p.id is not null) p
    cross join lateral parent_of(p_tenant, p.id) n
    union
    select up.parent, n.parent from up cross join lateral parent_of(p_tenant, up.parent) n where up.parent is not null
  )
  select array_agg(up.id), array_agg(up.parent) into above, parents_above from up;
  return risks_among(p_tenant, p_ids, p_parents, coalesce(above, '{}'), coalesce(parents_above, '{}'));
end
$$;
