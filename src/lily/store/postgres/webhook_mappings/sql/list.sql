select body, created_at, updated_at from webhook_mappings where tenant_id = %(tenant)s order by name limit %(limit)s
