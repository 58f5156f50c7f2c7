-- The number of queued jobs, and how long the oldest one that could run has waited.
select count(*), coalesce(extract(epoch from clock_timestamp() - min(greatest(run_at, retry_at))), 0)::float8
from queued_jobs
