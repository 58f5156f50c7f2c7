-- Begins the version of access for every new tenant.
create or replace function begin_access_versions() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into access_versions (tenant_id) values (new.id);
  return new;
end
$$;

create or replace trigger access_versions after insert on tenants for each row execute function begin_access_versions();
