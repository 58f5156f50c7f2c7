select position, tenant_id, asset_id::text, qualified_name, entity_type, layer, version, before, after, causes, committed_at
from changes
where batch_id = any(%s)
order by position
