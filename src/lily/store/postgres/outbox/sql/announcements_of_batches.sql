select position, tenant_id, body, committed_at
from announcements
where batch_id = any(%s)
order by position
