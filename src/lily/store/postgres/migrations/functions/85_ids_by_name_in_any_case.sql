-- Assets by qualified name, whatever its case: those that have one of the names, or with `below` those whose names are below
-- them, which are what engines may mean by columns of a table, also where an asset does not state its parent. With the
-- owner's rights for the reason given in 30_search.sql: `lower` is not marked leakproof. In the collation "C" it folds ASCII
-- letters; names that have others are found by their folded form, as policies compare them. Few assets share a name but for
-- case. All of them are returned: with a limit, assets of other spellings could displace the one that a policy protects.
create or replace function ids_by_name_in_any_case(names text[], below boolean) returns table (name text, id uuid)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select n.name, a.id
  from unnest(names) as n (name)
  cross join lateral (
    select s.id from assets s
    where not below and s.tenant_id || '/' || lower(s.qualified_name) = tenant() || '/' || lower(n.name collate "C")
    union
    select s.id from assets s
    where not below and s.tenant_id = tenant() and octet_length(s.qualified_name) <> length(s.qualified_name)
      and md5(normalize(casefold(s.qualified_name collate "pg_unicode_fast"), NFC))
          = md5(normalize(casefold(normalize(n.name, NFC) collate "pg_unicode_fast"), NFC))
    union all
    select s.id from assets s
    where below and s.tenant_id || '/' || lower(s.qualified_name) > tenant() || '/' || lower(n.name collate "C") || '.'
      and s.tenant_id || '/' || lower(s.qualified_name) < tenant() || '/' || lower(n.name collate "C") || '/'
    offset 0
  ) a
$$;

revoke all on function ids_by_name_in_any_case(text[], boolean) from public;
grant execute on function ids_by_name_in_any_case(text[], boolean) to lily_api, lily_pipeline;
