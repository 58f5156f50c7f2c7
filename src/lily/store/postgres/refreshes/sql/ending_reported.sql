-- A run whose scraper reports the end. Without a lease nobody else may hold it. Continued by end_runs.sql.
with ending as (
  select r.tenant_id, r.run_id, r.data_source, r.started_at, m.now, %(state)s::text as state, %(counts)s::jsonb as counts,
         %(error)s::text as error
  from refresh_runs r
  cross join (select coalesce(%(now)s::timestamptz, clock_timestamp()) as now) m
  where r.tenant_id = %(tenant)s and r.run_id = %(run)s::uuid and r.finished_at is null
    and case when %(lease)s::uuid is null then coalesce(r.lease_until <= m.now, true) else r.lease = %(lease)s::uuid end
  for update of r
),
