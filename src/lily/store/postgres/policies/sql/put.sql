-- Creates an object or replaces it. record_change.sql records what `decided` returns.
with locked as (
  select version from access_versions where tenant_id = %(tenant)s for update
),
decided as (
  insert into {table} as t (tenant_id, key, body, names, version)
  select %(tenant)s, %(key)s, %(body)s, %(names)s::text[], locked.version + 1
  from locked
  where %(expected)s::bigint is null or locked.version = %(expected)s
  on conflict (tenant_id, key) do update
  set body = excluded.body, names = excluded.names, version = excluded.version, updated_at = now()
  returning t.key, old.body as before, new.body as after
)
