-- Hands one run to a scraper: the oldest that no scraper has, or whose scraper did not renew its lease. Sent twice, it
-- returns the same run.
with mine as (
  select run_id from refresh_runs where tenant_id = %(tenant)s and lease = %(lease)s::uuid and finished_at is null
),
free as (
  select r.run_id, m.now
  from refresh_runs r
  cross join (select coalesce(%(now)s::timestamptz, clock_timestamp()) as now) m
  where r.tenant_id = %(tenant)s and r.finished_at is null and r.deadline > m.now
    and (r.state = 'requested' or r.lease_until <= m.now)
    and (%(data_sources)s::text[] is null or r.data_source = any(%(data_sources)s::text[]))
    and not exists (select from mine)
  order by r.requested_at, r.run_id
  limit 1
  for update of r skip locked
),
taken as (
  update refresh_runs r
  set state = 'running', started_at = coalesce(r.started_at, free.now), scraper = %(by)s, lease = %(lease)s::uuid,
      lease_until = free.now + make_interval(secs => %(seconds)s)
  from free
  where r.tenant_id = %(tenant)s and r.run_id = free.run_id
  returning r.run_id
)
select run_id::text from mine union all select run_id::text from taken
