-- Merges one layer of every staged edge whose newer statement replaces the stored layer, which is nearly always. This is
-- INSERT … ON CONFLICT and not MERGE because a concurrent transaction may insert the same edge for a job that claims it.
with merged as (
  insert into edges as e (tenant_id, from_id, to_id, type, {values}, {at}, {clocks}, created_at, updated_at)
  select tenant_id, from_id, to_id, type, fields, at, clocks, first, last
  from staged_edges
  where layer = %(layer)s
  order by tenant_id, from_id, to_id, type
  on conflict (tenant_id, from_id, to_id, type) do update set
    {values}   = excluded.{values},
    {at}       = excluded.{at},
    {clocks}   = excluded.{clocks},
    version    = e.version + (coalesce(e.{values}, '{{}}') <> excluded.{values})::integer,
    created_at = least(e.created_at, excluded.created_at),
    updated_at = greatest(e.updated_at, excluded.updated_at)
  where e.{at} is null
     or excluded.{clocks} is null and e.{clocks} is null and excluded.{at} > e.{at}
        -- What conducts differs from what is shown only in layers with clocks. A deletion may have to keep something of it.
        and not (excluded.{values} ->> '$deleted')::boolean
        -- Every statement says whether the edge is deleted, so only these two fields can be missing.
        and (excluded.{values} ? 'propagates' or not e.{values} ? 'propagates')
        and (excluded.{values} ? 'masking' or not e.{values} ? 'masking')
  returning new.tenant_id, new.from_id, new.to_id, new.type, {change}
),
noted as materialized (
  select m.*, s.causes, s.authority
  from merged m
  join staged_edges s on s.tenant_id = m.tenant_id and s.from_id = m.from_id and s.to_id = m.to_id and s.type = m.type
                     and s.layer = %(layer)s
  where m.differs
),
logged as (
  insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, before, after, causes)
  select %(batch)s, tenant_id, from_id, to_id, type, before, after, causes from noted
  returning 1
),
audited as (
  {audit}
)
select (select count(*) from merged) as merged, (select count(*) from logged) as changed
