select key, name, type, data_source, roles, wrapped_key, sealed, is_removed, is_stopped, failures, created_at
from enforcement_targets where tenant_id = %(tenant)s and key = %(key)s
