-- Row-level security hides rows before any operator that might tell about them, and neither @@ nor @> is known not to.
-- So lily_api could use no GIN index and would read the whole tenant. These look-ups run with the owner's rights,
-- name the tenant of the transaction themselves, and return ids only.
create or replace function ids_by_words(words text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets
  where tenant_id = tenant() and search_words(name, qualified_name) @@ to_tsquery('simple', words)
$$;

create or replace function ids_by_tag(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and tags <> '{}' and tags @> array[tag]
$$;

-- A tag that travels is looked for wherever it is: stated in any layer, or derived.
create or replace function ids_by_stated(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and stated <> '{}' and stated @> array[tag]
$$;

revoke all on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) from public;
grant execute on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) to lily_api;
