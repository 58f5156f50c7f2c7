-- The tables with encrypted rows, as the database knows them.
select c.relname
from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
  and 2 = (
    select count(*) from pg_attribute a
    where a.attrelid = c.oid and a.attname in ('wrapped_key', 'sealed') and not a.attisdropped
  )
order by c.relname
