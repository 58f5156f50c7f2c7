-- The query of a tenant for the sixteenths from one to another: `words` has an @ where an entry of the index has the tenant
-- and the last digit of the id.
create or replace function entries_of(tenant text, words text, first integer, last integer) returns tsquery
language sql immutable parallel safe as $$
  select string_agg('(' || replace(words, '@', tenant || '/' || to_hex(digit)) || ')', ' | ')::tsquery
  from generate_series(first, last) as digit
$$;

-- Row-level security filters rows before any operator that might leak them, and neither @@ nor @> is marked leakproof. So
-- lily_api could not use a GIN index and would scan the whole tenant. These functions run with the owner's rights, filter
-- by the tenant of the transaction themselves, and return ids only.
-- An index finds them, or it would read the assets of all tenants. The comparison of the tenant is written so that no index
-- that begins with it is taken instead: where statistics know nothing of a tenant, all seem equal.
create or replace function ids_by_words(words text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
  select id from assets
  where tenant_id || '' = tenant()
    and search_entries(tenant_id, id, name, qualified_name, owner, described) @@ entries_of(tenant(), words, 0, 15)
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
