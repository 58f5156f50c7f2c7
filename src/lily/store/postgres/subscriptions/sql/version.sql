select version from subscribed_tenants where tenant_id = %(tenant)s
