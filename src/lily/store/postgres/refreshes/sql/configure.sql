-- What a person sets for a data source, whether an asset names it yet or not. The next run is so long after the last one, or
-- after the data source was first seen; at once if that is past. Sent twice, it changes and audits nothing more.
with moment as (
  select coalesce(%(now)s::timestamptz, clock_timestamp()) as now
),
before as (
  select every, timeout, enabled, is_configured from refresh_schedules
  where tenant_id = %(tenant)s and data_source = %(data_source)s
),
changed as (
  insert into refresh_schedules as s (tenant_id, data_source, first_seen, is_configured, enabled, every, timeout, next_at)
  select %(tenant)s, %(data_source)s, moment.now, true, %(enabled)s, make_interval(secs => %(every)s),
         make_interval(secs => %(timeout)s), moment.now + make_interval(secs => %(every)s)
  from moment
  on conflict (tenant_id, data_source) do update
  set is_configured = true, enabled = excluded.enabled, every = excluded.every, timeout = excluded.timeout,
      next_at = greatest((select now from moment), coalesce(s.last_requested_at, s.first_seen) + excluded.every)
  where (s.is_configured, s.enabled, s.every, s.timeout)
        is distinct from (true, excluded.enabled, excluded.every, excluded.timeout)
  returning every, timeout, enabled
),
audited as (
  insert into audit (tenant_id, principal, action, entity, correlation, detail)
  select %(tenant)s, %(by)s, 'refresh-schedule.put', %(data_source)s, %(correlation)s,
         jsonb_build_object('before', (select to_jsonb(before) from before), 'after', to_jsonb(changed))
  from changed
)
select count(*) from changed
