-- The columns of some relations, each with its type below any domain.
with recursive base (domain, type, modifier) as (
  select oid, typbasetype, typtypmod from pg_type where typtype = 'd'
  union all
  select base.domain, t.typbasetype, greatest(t.typtypmod, base.modifier)
  from base join pg_type as t on t.oid = base.type
  where t.typtype = 'd'
),
undone as (
  select base.* from base join pg_type as t on t.oid = base.type where t.typtype <> 'd'
)
select a.attrelid::int8, a.attname, format_type(t.oid, coalesce(undone.modifier, a.atttypmod)),
       t.typname, t.typcategory::text, t.typnamespace = 'pg_catalog'::regnamespace,
       case when a.attcollation <> 0 then (
         select format('%%I.%%I', n.nspname, l.collname)
         from pg_collation as l join pg_namespace as n on n.oid = l.collnamespace where l.oid = a.attcollation
       ) end,
       a.attacl::text
from pg_attribute as a
left join undone on undone.domain = a.atttypid
join pg_type as t on t.oid = coalesce(undone.type, a.atttypid)
where a.attrelid = any (%(relations)s::oid[]) and a.attnum > 0 and not a.attisdropped
order by a.attrelid, a.attnum
