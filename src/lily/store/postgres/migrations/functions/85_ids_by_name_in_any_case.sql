-- Assets by qualified name, whatever its case. With the owner's rights for the reason given in 30_search.sql: `lower` is not
-- marked leakproof. In the collation "C" it folds ASCII letters, as engines do; few assets share a name but for case. All of
-- them are returned: with a limit, assets of other spellings could displace the one that a policy protects.
create or replace function ids_by_name_in_any_case(names text[]) returns table (name text, id uuid)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select n.name, a.id
  from unnest(names) as n (name)
  cross join lateral (
    select s.id from assets s
    where s.tenant_id = tenant() and lower(s.qualified_name) = lower(n.name collate "C")
    offset 0
  ) a
$$;

revoke all on function ids_by_name_in_any_case(text[]) from public;
grant execute on function ids_by_name_in_any_case(text[]) to lily_api;
