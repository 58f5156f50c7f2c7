-- Row-level security filters rows before any operator that might leak them, and neither @@ nor @> is marked leakproof. So
-- lily_api could not use a GIN index and would scan the whole tenant. These functions run with the owner's rights, filter
-- by the tenant of the transaction themselves, and return ids only.
create or replace function ids_by_words(words text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets
  where tenant_id = tenant() and search_words(name, qualified_name) @@ to_tsquery('simple', words)
$$;

create or replace function ids_by_tag(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and tags <> '{}' and tags @> array[tag]
$$;

-- A tag that propagates counts in any layer, not only where it is effective.
create or replace function ids_by_stated(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and stated <> '{}' and stated @> array[tag]
$$;

revoke all on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) from public;
grant execute on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) to lily_api;
