-- Decisions about the user change as well: increments the tenant's version and notifies the processes that decide.
, bumped as (
  update access_versions v
  set version = v.version + 1, changed_at = greatest(clock_timestamp(), v.changed_at + interval '1 microsecond')
  from changed
  where v.tenant_id = changed.tenant_id
  returning pg_notify('lily_policies', v.tenant_id)
)
