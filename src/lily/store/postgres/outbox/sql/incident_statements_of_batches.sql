select position, tenant_id, body, committed_at
from incident_statements
where batch_id = any(%s)
order by position
