-- What is named directly below a table, and which only edges have named. The ids are between two ids.
select t.name, n.id::text, n.qualified_name, null, false
from unnest(%(names)s::text[], %(firsts)s::uuid[], %(lasts)s::uuid[]) as t (name, first, last)
cross join lateral (
  select * from named_ends n
  where n.tenant_id = %(tenant)s and n.id between t.first and t.last
    and starts_with(n.qualified_name, t.name) and substr(n.qualified_name, length(t.name) + 1) ~ '^[./][^./]+$'
  order by n.id
  limit %(most)s
) n
where not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = n.id)
