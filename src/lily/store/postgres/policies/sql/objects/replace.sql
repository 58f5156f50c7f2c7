-- Replaces an object. record_change.sql records what `decided` returns.
with locked as (
  select version from access_versions where tenant_id = %(tenant)s for update
),
decided as (
  update {table} as t
  set body = %(body)s, names = %(names)s::text[], updated_at = now(),
      version = case when t.body = %(body)s then t.version else locked.version + 1 end
  from locked
  where t.tenant_id = %(tenant)s and t.key = %(key)s
    and (%(expected)s::bigint is null or locked.version = %(expected)s)
  returning t.key as name, old.body as before, new.body as after
)
