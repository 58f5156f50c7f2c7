-- Tags that assets hold, after a key.
select a.id::text, t.tag
from (
  select id, held from assets
  where tenant_id = %(tenant)s and held is not null and id >= %(after)s::uuid
  order by id limit %(limit)s + 1
) a
cross join lateral unnest(a.held) as t (tag)
where (a.id, t.tag) > (%(after)s::uuid, %(text)s)
order by a.id, t.tag
limit %(limit)s
