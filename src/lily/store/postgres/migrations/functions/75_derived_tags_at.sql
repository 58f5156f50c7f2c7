-- The derived tags of assets at a time: `infinity` is now. Of the supports that ended later, the first to end was in force.
create or replace function derived_tags_at(p_tenant text, p_ids uuid[], p_at timestamptz)
returns table (asset_id uuid, tag text, kind text, via uuid, depth integer, steps integer)
language sql stable as $$
  select distinct on (s.asset_id, s.tag, s.kind) s.asset_id, s.tag, s.kind, s.via, s.depth, s.steps
  from (
    select h.asset_id, h.tag, h.kind, h.via, h.depth, h.steps, h.until
    from derived_tag_history h
    where h.tenant_id = p_tenant and h.asset_id = any (p_ids) and h.since <= p_at and h.until > p_at
    union all
    select d.asset_id, d.tag, d.kind, d.via, d.depth, d.steps, 'infinity'
    from derived_tags d
    where d.tenant_id = p_tenant and d.asset_id = any (p_ids) and d.since <= p_at
  ) s
  order by s.asset_id, s.tag, s.kind, s.until
$$;
