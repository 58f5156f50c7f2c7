-- The schemas, their owners, whether they have the comment of those that Lily makes, and who has USAGE in any way.
select n.oid::int8, n.nspname, pg_get_userbyid(n.nspowner),
       coalesce(obj_description(n.oid, 'pg_namespace') = %(mark)s, false),
       (select array_agg(r.oid::int8) from pg_roles as r where has_schema_privilege(r.oid, n.oid, 'USAGE'))
from pg_namespace as n
where n.nspname not like 'pg\_%%' and n.nspname <> 'information_schema'
