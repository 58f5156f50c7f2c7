-- The privileges of this role that would bypass row-level security.
select current_user::text, r.rolsuper, r.rolbypassrls, exists (
  select from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')
    and c.relpersistence = 'p' and pg_has_role(current_user, c.relowner, 'USAGE')
)
from pg_roles r
where r.rolname = current_user
