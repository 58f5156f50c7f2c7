select body from webhook_mappings where tenant_id = %(tenant)s and name = %(name)s
