select position, tenant_id, from_id::text, to_id::text, type, before, after, causes, committed_at
from edge_changes
where batch_id = any(%s)
order by position
