-- Assets whose qualified names are below others, whatever their case: what engines may mean by columns of a table, also where
-- an asset does not state its parent. With the owner's rights for the reason given in 30_search.sql.
create or replace function ids_below_name_in_any_case(names text[]) returns table (name text, id uuid)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select n.name, a.id
  from unnest(names) as n (name)
  cross join lateral (
    select s.id from assets s
    where s.tenant_id = tenant()
      and lower(s.qualified_name) > lower(n.name collate "C") || '.' and lower(s.qualified_name) < lower(n.name collate "C") || '/'
    offset 0
  ) a
$$;

revoke all on function ids_below_name_in_any_case(text[]) from public;
grant execute on function ids_below_name_in_any_case(text[]) to lily_api, lily_pipeline;
