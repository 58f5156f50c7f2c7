-- The privileges on columns, each set of them once: most columns of a database share a few.
select d.owner::int8, d.acl::text,
       (select array_agg(array[g.grantee::int8, (g.is_grantable or g.grantor <> d.owner)::int])
        from aclexplode(d.acl) as g where g.privilege_type = 'SELECT' and g.grantee <> d.owner)
from (
  select distinct a.attacl as acl, c.relowner as owner
  from pg_attribute as a join pg_class as c on c.oid = a.attrelid
  where a.attrelid = any (%(relations)s::oid[]) and a.attnum > 0 and a.attacl is not null and not a.attisdropped
) as d
