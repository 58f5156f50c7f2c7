with changed as (
  delete from webhook_mappings where tenant_id = %(tenant)s and name = %(name)s and %(body)s::jsonb is null
  returning name
)
