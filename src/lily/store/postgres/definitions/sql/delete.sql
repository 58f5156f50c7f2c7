-- Deletes a definition. record_decision.sql records what `decided` returns.
with decided as (
  delete from {table} as t
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name, {shown} as before, null::jsonb as after
)
