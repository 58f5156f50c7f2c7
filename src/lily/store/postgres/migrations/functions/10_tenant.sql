-- The tenant of the transaction. Row-level security, and the functions that run with the owner's rights, compare with it.
create or replace function tenant() returns text language sql stable parallel safe
return nullif(current_setting('lily.tenant', true), '');

-- The settings of the own tenant: the API's role must not read the whole table of tenants.
create or replace function tenant_settings() returns table (on_delete text)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.on_delete from tenants t where t.id = tenant()
$$;

create or replace function decide_on_delete(value text) returns table (before text, after text)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update tenants set on_delete = value where id = tenant() returning old.on_delete, new.on_delete
$$;

revoke all on function tenant_settings(), decide_on_delete(text) from public;
grant execute on function tenant_settings(), decide_on_delete(text) to lily_api;
grant execute on function tenant_settings() to lily_pipeline;
