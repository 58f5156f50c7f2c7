-- Every touched edge gets a row. A new one has no claims but those of this batch, so it is stored as they leave it, and
-- its change is recorded: it propagates, and conducts what it shows. One that is not claimed has version 0 and counts as
-- deleted until it is. Returns how many are new, and how many changes were recorded.
with fresh as (
  insert into edges as e (tenant_id, from_id, to_id, type, version, claimed, claims_mask, claims_mask_by_authority,
                          claims_assume, created_at, updated_at)
  select tenant_id, from_id, to_id, type, claimed::integer, claimed, masking, by_authority, assumed, time, time
  from touched_edges
  order by tenant_id, from_id, to_id, type
  on conflict do nothing
  returning tenant_id, from_id, to_id, type, claimed, propagates, masking, is_deleted
),
logged as (
  insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, after, causes)
  select %(batch)s, f.tenant_id, f.from_id, f.to_id, f.type,
         jsonb_build_object('propagates', f.propagates, 'masking', f.masking, 'is_deleted', f.is_deleted),
         %(causes)s::jsonb -> t.event
  from fresh f
  join touched_edges t on t.tenant_id = f.tenant_id and t.from_id = f.from_id and t.to_id = f.to_id and t.type = f.type
  where f.claimed
  returning 1
)
select (select count(*) from fresh), (select count(*) from logged)
