select position, tenant_id, asset_id::text, body, committed_at, stated_at
from rule_statements
where batch_id = any(%s)
order by position
