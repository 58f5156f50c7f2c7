-- Runs, the newest first; with `id` that one.
select run_id::text, data_source, state, reason, due_at, requested_at, requested_by,
       extract(epoch from timeout)::bigint, deadline, started_at, scraper, finished_at, error, counts
from refresh_runs
where tenant_id = %(tenant)s
  and (%(id)s::uuid is null or run_id = %(id)s::uuid)
  and (%(data_source)s::text is null or data_source = %(data_source)s)
  and (%(state)s::text is null or state = %(state)s)
  and (%(at)s::timestamptz is null or requested_at < %(at)s::timestamptz
       or (requested_at = %(at)s::timestamptz and run_id > %(last)s::uuid))
order by requested_at desc, run_id
limit %(limit)s
