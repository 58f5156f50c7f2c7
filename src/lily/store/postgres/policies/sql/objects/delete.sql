-- Deletes an object. record_change.sql records what `decided` returns.
with locked as (
  select version from access_versions where tenant_id = %(tenant)s for update
),
decided as (
  delete from {table} as t using locked
  where t.tenant_id = %(tenant)s and t.key = %(key)s
    and (%(expected)s::bigint is null or locked.version = %(expected)s)
  returning t.key as name, t.body as before, null::jsonb as after
)
