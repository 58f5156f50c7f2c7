select position, tenant_id, tag, change, root::text, assets::text[], committed_at
from propagated
where batch_id = any(%s)
order by position
