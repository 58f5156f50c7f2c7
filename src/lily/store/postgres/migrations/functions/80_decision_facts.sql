grant select on lake_parents to lily_api;

-- Whether the lake has columns directly below an asset, by its name. What is below it has other ids than the asset, which
-- begin as the id of any name below it does.
create or replace function has_lake_columns(p_tenant text, p_id uuid, p_name text) returns boolean
language sql stable parallel safe as $$
  select exists (
    select from lake_parents l
    where l.tenant_id = p_tenant and l.id = p_id
      and l.place = substr(encode(sha256(convert_to(p_tenant, 'UTF8') || '\x00'::bytea || convert_to(p_name, 'UTF8')), 'hex'), 1, 4))
$$;

-- The id of the asset whose column a name may be, as lily.model.ids derives it; null if the name has no separator. For assets
-- that a caller gives by their ids: only PostgreSQL knows their names.
-- In PL/pgSQL, where an expression needs no executor: as a function in SQL it took five times as long.
create or replace function id_above_name(p_tenant text, p_name text) returns uuid
language plpgsql stable parallel safe as $$
declare
  above text := substring(p_name from '^(.+)[./]');
  own   text := encode(sha256(convert_to(p_tenant, 'UTF8') || '\x00'::bytea || convert_to(above, 'UTF8')), 'hex');
  place text := encode(sha256(convert_to(p_tenant, 'UTF8') || '\x00'::bytea
                              || convert_to(coalesce(substring(above from '^(.+)[./]'), above), 'UTF8')), 'hex');
begin
  return substr(place, 1, 4) || substr(own, 1, 4) || '-' || substr(own, 5, 4) || '-8' || substr(own, 9, 3) || '-'
    || substr('89ab', get_byte(decode('0' || substr(own, 12, 1), 'hex'), 0) % 4 + 1, 1) || substr(own, 13, 3)
    || '-' || substr(own, 16, 12);
end
$$;

-- What decisions need to know of assets: a row for each asset, then a row without a number for each ancestor of any.
--
-- `p_above` holds, for each asset, the id of the name before the last separator, the nil UUID if its name has none, or null if
-- it was given by its id. A plain column is only in the
-- lake, which decisions do not read, so a name directly below a stored table counts as a column of it, and so does one below
-- anything else below which the lake has columns: somebody may have stated that the table is a dashboard. So does one that
-- an edge has named and that is given by its id, below anything. The graph has the parents of columns that have lineage. A hierarchy with a cycle ends, because `up` holds each ancestor once.
--
-- Of an asset that only an edge has named by its id, and that the lake was not asked for, it is not known what is above it.
-- Then every tag that propagates counts as inherited.
--
-- `enriched_tags` includes the tags that a layer holds: they count in the same way.
--
-- While propagation has not caught up with what the tenant has committed, tags that would arrive count as arrived. `p_lags`
-- is for a caller that has found out already, in the same query.
--
-- In PL/pgSQL, so that its plan is kept: planning took longer than most calls. `offset 0` keeps the planner from joining
-- with the whole table, which it prefers for a tenant that it has no statistics of.
create or replace function decision_facts(
  p_tenant text, p_ids uuid[], p_above uuid[], p_attributes boolean, p_tables text[], p_tags text[], p_cut boolean,
  p_lags boolean default null
)
returns table (
  number bigint, asset_id text, known boolean, stored boolean, qualified_name text, entity_type text, data_source text,
  source_tags jsonb, enriched_tags jsonb, user_tags jsonb, suppressed text[], source jsonb, enriched jsonb, "user" jsonb,
  parent text, propagated text[], inherited text[]
)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with recursive found as materialized (
    select q.number, q.id, a.id is not null as stored, a.id is not null or g.id is not null or p.id is not null or e.id is not null as known,
           coalesce(a.qualified_name, g.qualified_name) as qualified_name,
           coalesce(a.entity_type, g.entity_type, p.column_type) as entity_type,
           coalesce(a.data_source, p.data_source, o.data_source) as data_source,
           a.source_tags, a.enriched_tags, a.user_tags, a.suppressed, a.source, a.enriched, a."user",
           coalesce(a.parent, g.parent, p.id) as parent,
           -- While the lake may have it as a column of another table than PostgreSQL, it counts as one of both.
           case when a.awaits_lake and coalesce(a.parent, p.id) is distinct from coalesce(q.above, a.above)
                then nullif(coalesce(q.above, a.above), '00000000-0000-0000-0000-000000000000') end
             as parent_by_name,
           -- It was given by an id that only edges know, and the lake was not asked yet what is above it.
           a.id is null and q.above is null and g.parent is null and n.id is null and coalesce(g.awaits_lake, e.id is not null)
             as above_unknown
    from unnest(p_ids, p_above) with ordinality as q (id, above, number)
    left join lateral (
      select s.id, s.qualified_name, s.entity_type, s.data_source, s.source -> 'tags' as source_tags,
             enriched_or_held(s.held, s.source, s.enriched, s."user") as enriched_tags, s."user" -> 'tags' as user_tags, s.suppressed, s.awaits_lake,
             case when s.awaits_lake and q.above is null then id_above_name(p_tenant, s.qualified_name) end as above,
             s.parent::uuid as parent, case when p_attributes then s.source end as source,
             case when p_attributes then s.enriched end as enriched, case when p_attributes then s."user" end as "user"
      from assets s where s.tenant_id = p_tenant and s.id = q.id offset 0
    ) a on true
    left join lateral (
      select n.id, n.qualified_name, n.entity_type, n.parent, n.awaits_lake
      from graph_nodes n where n.tenant_id = p_tenant and n.id = q.id and a.id is null offset 0
    ) g on true
    left join lateral (
      select d.id, id_above_name(p_tenant, d.qualified_name) as above
      from named_ends d where d.tenant_id = p_tenant and d.id = q.id and a.id is null and q.above is null offset 0
    ) n on true
    left join lateral (
      -- Also for a column that is stored already, while the lake has yet to report its parent.
      select t.id, t.data_source, 'column' as column_type
      from assets t
      where t.tenant_id = p_tenant and t.id = coalesce(q.above, a.above, n.above)
        and (a.id is null or a.awaits_lake and a.parent is null)
        and g.parent is null
        and (t.entity_type = any (p_tables) or a.awaits_lake or n.id is not null or exists (
          select from lake_parents l
          where l.tenant_id = p_tenant and l.place = substr(q.id::text, 1, 4) and l.id = t.id)) offset 0
    ) p on true
    -- An edge may come before its assets: they are known from its commit on, before propagation adds them to the graph.
    left join lateral (
      select q.id
      where a.id is null and g.id is null and p.id is null
        and (exists (select from edges i where i.tenant_id = p_tenant and i.to_id = q.id offset 0)
             or exists (select from edges o where o.tenant_id = p_tenant and o.from_id = q.id offset 0)) offset 0
    ) e on true
    -- A column that was promoted from the lake, or that has lineage, still counts as of its table's source.
    left join lateral (
      select t.data_source from assets t
      where t.tenant_id = p_tenant and t.id = coalesce(a.parent, g.parent) and a.data_source is null
        and coalesce(a.entity_type, g.entity_type) in ('column', 'field', 'bi_field')
      offset 0
    ) o on true
  ),
  up (id, qualified_name, parent) as (
    select n.id, n.qualified_name, n.parent
    from (select distinct f.parent from found f where f.parent is not null) as first (id)
    cross join lateral (
      select s.id, s.qualified_name, s.parent::uuid as parent
      from assets s where s.tenant_id = p_tenant and s.id = first.id offset 0
    ) n
    union
    select n.id, n.qualified_name, n.parent
    from up cross join lateral (
      select s.id, s.qualified_name, s.parent::uuid as parent
      from assets s where s.tenant_id = p_tenant and s.id = up.parent offset 0
    ) n
  ),
  reached as materialized (
    select r.asset_id, r.propagated, r.inherited
    from reached_from_elsewhere(
      p_tenant, p_tags, p_cut,
      (select array_agg(f.id order by f.number) from found f), (select array_agg(f.parent order by f.number) from found f),
      coalesce(p_lags, propagation_lags(p_tenant)), false,
      array(select f.id from found f where f.parent_by_name is not null order by f.number),
      array(select f.parent_by_name from found f where f.parent_by_name is not null order by f.number)
    ) r
  )
  select f.number, f.id::text, f.known, f.stored, f.qualified_name, f.entity_type, f.data_source, f.source_tags,
         f.enriched_tags, f.user_tags, f.suppressed, f.source, f.enriched, f."user", f.parent::text, r.propagated,
         case when f.above_unknown then p_tags
              when r.inherited is not null then array(select jsonb_object_keys(r.inherited)) end
  from found f left join reached r on r.asset_id = f.id
  union all
  select null, up.id::text, true, true, up.qualified_name, null, null, null, null, null, null, null, null, null,
         up.parent::text, null, null
  from up;
end
$$;
