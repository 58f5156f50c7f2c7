-- The only table of the tenant that has a name, whatever its schema: none if there are several. The index of searches finds
-- the candidates.
select n.place, min(a.id::text)
from unnest(%(places)s::integer[], %(names)s::text[], %(words)s::text[]) as n (place, name, words)
cross join lateral (
  select s.id from generate_series(0, 15) as digit cross join assets s
  where s.tenant_id = %(tenant)s
    and search_entries(s.tenant_id, s.id, s.name, s.qualified_name, s.owner, s.described)
        @@ entries_of(%(tenant)s, n.words, digit)
    and (lower(s.qualified_name) = n.name or right(lower(s.qualified_name), length(n.name) + 1) = '.' || n.name)
    and s.entity_type = any (%(types)s::text[])
    and not s.is_deleted
  limit 2
) a
group by n.place
having count(*) = 1
