select asset_id::text, entity_type, qualified_name, layer, before, after, causes, committed_at
from changes where tenant_id = %(tenant)s and position = %(position)s
