-- Updates the touched edges from their claims, and records a change where the effective state differs.
with standing as (
  select t.tenant_id, t.from_id, t.to_id, t.type, t.time, %(causes)s::jsonb -> t.event as causes, t.authority, s.*, h.held
  from touched_edges t
  cross join lateral (
    select count(*) > 0 as claimed, coalesce(bool_and(c.masking), false) as masking,
           coalesce(bool_and(c.masking and c.authorised), false) as by_authority,
           coalesce(bool_and(c.assumed), false) as assumed
    from claims c
    where c.tenant_id = t.tenant_id and c.from_id = t.from_id and c.to_id = t.to_id and c.type = t.type and not c.aside
  ) s
  cross join lateral (
    select coalesce(max(case when c.masking then 1 else 2 end), 0)::smallint as held
    from held_claims c
    where c.tenant_id = t.tenant_id and c.from_id = t.from_id and c.to_id = t.to_id and c.type = t.type
  ) h
),
changed as (
  update edges e set
    claimed     = s.claimed,
    claims_mask = s.masking,
    claims_mask_by_authority = s.by_authority,
    claims_held = s.held,
    claims_assume = s.assumed,
    version     = e.version + 1,
    created_at  = least(e.created_at, s.time),
    updated_at  = greatest(e.updated_at, s.time)
  from standing s
  where e.tenant_id = s.tenant_id and e.from_id = s.from_id and e.to_id = s.to_id and e.type = s.type
    and (e.claimed, e.claims_mask, e.claims_mask_by_authority, e.claims_held, e.claims_assume)
        is distinct from (s.claimed, s.masking, s.by_authority, s.held, s.assumed)
  returning new.tenant_id, new.from_id, new.to_id, new.type, s.causes, s.authority, {change}
),
noted as materialized (
  select * from changed where differs
),
logged as (
  insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, before, after, causes)
  select %(batch)s, tenant_id, from_id, to_id, type, before, after, causes from noted
  returning 1
),
audited as (
  {audit}
)
select count(*) from logged
