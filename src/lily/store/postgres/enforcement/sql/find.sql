select key, name, type, data_source, roles, wrapped_key, sealed, is_removed, failures
from enforcement_targets where tenant_id = %(tenant)s and key = %(key)s
