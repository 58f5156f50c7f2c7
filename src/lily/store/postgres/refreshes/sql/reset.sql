-- Back to the default. If no asset names the data source, the refresher forgets it at its next turn. Returns whether there
-- is such a schedule.
with before as (
  select every, timeout, enabled from refresh_schedules
  where tenant_id = %(tenant)s and data_source = %(data_source)s
),
changed as (
  update refresh_schedules s
  set is_configured = false, enabled = true, every = default, timeout = default,
      next_at = greatest(coalesce(%(now)s::timestamptz, clock_timestamp()),
                         coalesce(s.last_requested_at, s.first_seen) + interval '24 hours')
  where s.tenant_id = %(tenant)s and s.data_source = %(data_source)s and s.is_configured
  returning s.data_source
),
audited as (
  insert into audit (tenant_id, principal, action, entity, correlation, detail)
  select %(tenant)s, %(by)s, 'refresh-schedule.delete', %(data_source)s, %(correlation)s,
         jsonb_build_object('before', to_jsonb(before))
  from before, changed
)
select count(*) from before
