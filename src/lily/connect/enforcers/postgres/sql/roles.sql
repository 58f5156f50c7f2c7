-- Every role of the server, with the roles whose rights it has or can take on, and those of them whose rights it has
-- without SET ROLE. A membership with neither INHERIT nor SET gives neither.
with recursive above (member, roleid, inherits) as (
  select member, roleid, inherit_option from pg_auth_members where inherit_option or set_option
  union
  select above.member, m.roleid, above.inherits and m.inherit_option
  from above
  join pg_auth_members as m on m.member = above.roleid and (m.inherit_option or m.set_option)
)
select r.oid::int8, r.rolname, r.rolcanlogin, r.rolsuper, r.rolbypassrls, r.rolname = current_user,
       coalesce((select array_agg(distinct a.roleid::int8) from above as a where a.member = r.oid), '{}'),
       coalesce((select array_agg(distinct a.roleid::int8) from above as a where a.member = r.oid and a.inherits), '{}')
from pg_roles as r
order by r.rolname
