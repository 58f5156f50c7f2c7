-- Deletes the states that ended before the time to keep, of all tenants, and records since when each history is complete.
with cutoff as (select now() - %(keep)s::interval as at),
deleted as (
  delete from access_history h using cutoff where h.valid_to < cutoff.at returning h.tenant_id
),
recorded as (
  update access_versions v set history_from = cutoff.at from cutoff
  where v.tenant_id in (select d.tenant_id from deleted d) and v.history_from < cutoff.at
)
select count(*) from deleted
