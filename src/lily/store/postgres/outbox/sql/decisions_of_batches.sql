select position, tenant_id, kind, name, before, after, by, committed_at
from decisions
where batch_id = any(%s)
order by position
