with changed as (
  update webhook_mappings set body = %(body)s, updated_at = now()
  where tenant_id = %(tenant)s and name = %(name)s
  returning name
)
