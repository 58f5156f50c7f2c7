select name, type, per_second, wrapped_key, sealed, version, created_at
from notification_channels where tenant_id = %(tenant)s and key = %(key)s
