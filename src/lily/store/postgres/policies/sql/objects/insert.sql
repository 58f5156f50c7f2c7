-- Inserts an object. create.sql or put.sql decides what happens if there is one with its key; record_change.sql records
-- what `decided` returns.
with locked as (
  select version from access_versions where tenant_id = %(tenant)s for update
),
decided as (
  insert into {table} as t (tenant_id, key, body, names, version)
  select %(tenant)s, %(key)s, %(body)s, %(names)s::text[], locked.version + 1
  from locked
  where %(expected)s::bigint is null or locked.version = %(expected)s
  {conflict}
  returning t.key as name, old.body as before, new.body as after
)
