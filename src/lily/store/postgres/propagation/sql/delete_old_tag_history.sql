-- Deletes supports that ended long ago, of all tenants. Each tenant's history then starts when the last of its deleted ones
-- ended: what was in force later is still here.
with gone as (
  delete from derived_tag_history where until < now() - %s::interval returning tenant_id, until
),
moved as (
  insert into derived_tag_history_starts as s (tenant_id, starts_at)
  select tenant_id, max(until) from gone group by tenant_id
  on conflict (tenant_id) do update set starts_at = greatest(s.starts_at, excluded.starts_at)
)
select count(*) from gone
