with decided as (
  delete from subscriptions s where s.tenant_id = %(tenant)s and s.id = %(id)s
  returning s.id::text as name, s.body as before, null::jsonb as after
)
