-- Every role of the server, with the roles whose rights it has or can take on. A membership with neither INHERIT nor
-- SET gives neither; before PostgreSQL 16 every membership gives both.
with recursive edges as (
  select m.member, m.roleid
  from pg_auth_members as m
  where coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)
     or coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)
),
above (member, roleid) as (
  select member, roleid from edges
  union
  select above.member, edges.roleid from above join edges on edges.member = above.roleid
)
select r.oid::int8, r.rolname, r.rolcanlogin, r.rolsuper, r.rolbypassrls, r.rolname = current_user,
       coalesce((select array_agg(above.roleid::int8 order by above.roleid) from above where above.member = r.oid), '{}')
from pg_roles as r
order by r.rolname
