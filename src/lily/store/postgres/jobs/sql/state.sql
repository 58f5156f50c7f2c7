-- How many jobs wait, and for how long the oldest of those that could run has waited.
select count(*), coalesce(extract(epoch from clock_timestamp() - min(greatest(run_at, retry_at))), 0)::float8
from queued_jobs
