-- Those that incidents follow from: a success, and a failure that is part of one.
select tenant_id, run_id::text, data_source, state, error, failure, finished_at
from refresh_runs
where finished_batch = any(%s) and (state = 'succeeded' or failure is not null)
order by finished_at, run_id
