select body from {table} where tenant_id = %(tenant)s and key = %(key)s
