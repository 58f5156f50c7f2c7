-- The function names the tenant.
select found_id::text, found_rank
from ids_by_rank(%(queries)s::text[], %(rank)s, %(after)s::uuid, %(wanted)s, %(type)s, %(source)s, %(owner)s, %(deleted)s)
  with ordinality as found (found_id, found_rank, place)
order by place
