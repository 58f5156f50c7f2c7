-- Runs whose time is over. Continued by end_runs.sql.
with ending as (
  select r.tenant_id, r.run_id, r.data_source, r.started_at, m.now, 'timed_out' as state, '{}'::jsonb as counts,
         case when r.started_at is null then 'no scraper took the request in time'
              else 'the scraper did not report the end in time' end as error
  from refresh_runs r
  cross join (select coalesce(%(now)s::timestamptz, clock_timestamp()) as now) m
  where r.finished_at is null and r.deadline <= m.now
  order by r.deadline
  limit %(limit)s
  for update of r skip locked
),
