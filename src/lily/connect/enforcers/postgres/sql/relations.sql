-- What can be read and who may: [grantee, 1 if it was granted by another role than the owner, or with grant option].
-- The second half are Lily's own masking views.
select c.oid::int8, n.nspname, c.relname, c.relkind::text, c.relowner::int8, pg_has_role(c.relowner, 'USAGE'),
       c.relrowsecurity,
       exists (select from pg_policy as p where p.polrelid = c.oid and p.polname not like 'lily\_%%'),
       (select p.inhparent::int8 from pg_inherits as p where p.inhrelid = c.oid order by p.inhseqno limit 1),
       (select array_agg(array[a.grantee::int8, (a.is_grantable or a.grantor <> c.relowner)::int])
        from aclexplode(c.relacl) as a where a.privilege_type = 'SELECT' and a.grantee <> c.relowner),
       n.oid = any (%(own_schemas)s::oid[])
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and c.relpersistence <> 't'
  and n.nspname <> all (%(hidden)s)
  and n.nspname not like 'pg\_%%'
  and n.nspname <> 'information_schema'
  and (cardinality(%(schemas)s::name[]) = 0 or n.nspname = any (%(schemas)s) or n.oid = any (%(own_schemas)s::oid[]))
order by n.nspname, c.relname
