select position, tenant_id, asset_id::text, qualified_name, entity_type, layer, version, before, after, causes::text,
       (committed_at at time zone 'UTC')::text
from changes
where batch_id = any(%s)
order by position
