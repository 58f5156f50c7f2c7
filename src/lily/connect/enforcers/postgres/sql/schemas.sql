-- The schemas, their owners, whether they have the comment of those that Lily makes, and to whom USAGE is granted.
select n.oid::int8, n.nspname, n.nspowner::int8,
       coalesce(obj_description(n.oid, 'pg_namespace') = %(mark)s, false),
       (select array_agg(a.grantee::int8)
        from aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a where a.privilege_type = 'USAGE')
from pg_namespace as n
where n.nspname not like 'pg\_%%' and n.nspname <> 'information_schema'
