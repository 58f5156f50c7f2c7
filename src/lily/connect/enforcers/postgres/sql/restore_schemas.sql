-- What is left when every table is restored.
do $$
declare
  one record;
begin
  for one in
    select n.nspname, r.rolname
    from lily_enforcement.usages as u
    join pg_namespace as n on n.oid = u.schema
    join pg_roles as r on r.oid = u.role
  loop
    execute format('REVOKE USAGE ON SCHEMA %I FROM %I', one.nspname, one.rolname);
  end loop;
  for one in select nspname from pg_namespace where obj_description(oid, 'pg_namespace') = '{mark}' loop
    execute format('DROP SCHEMA %I', one.nspname);
  end loop;
end
$$;
drop schema lily_enforcement cascade
