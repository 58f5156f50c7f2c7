select tenant_id, run_id::text, data_source, reason, due_at, requested_at, extract(epoch from timeout)::bigint
from refresh_runs
where batch_id = any(%s)
order by requested_at, run_id
