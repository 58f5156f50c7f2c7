-- The derived tags of assets at a time: `infinity` is now. Of the supports that ended later, the first to end was in force.
--
-- `offset 0` keeps the planner from the index by age: it expects few rows after a recent time, and reads the whole table.
create or replace function derived_tags_at(p_tenant text, p_ids uuid[], p_at timestamptz)
returns table (asset_id uuid, tag text, kind text, via uuid, depth integer, steps integer)
language sql stable as $$
  select distinct on (s.asset_id, s.tag, s.kind) s.asset_id, s.tag, s.kind, s.via, s.depth, s.steps
  from (
    select h.asset_id, h.tag, h.kind, h.via, h.depth, h.steps, h.until
    from unnest(p_ids) as given (id)
    cross join lateral (
      select * from derived_tag_history e where e.asset_id = given.id and e.tenant_id = p_tenant offset 0) h
    where h.since <= p_at and h.until > p_at
    union all
    select d.asset_id, d.tag, d.kind, d.via, d.depth, d.steps, 'infinity'
    from derived_tags d
    where d.tenant_id = p_tenant and d.asset_id = any (p_ids) and d.since <= p_at
  ) s
  order by s.asset_id, s.tag, s.kind, s.until
$$;
