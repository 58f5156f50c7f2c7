-- The function names the tenant.
select found_id::text, found_rank, is_match
from ids_by_rank(
  %(queries)s::text[], %(words)s::text[], %(patterns)s::text[], %(rank)s, %(after)s::uuid, %(wanted)s,
  %(type)s, %(source)s, %(owner)s, %(tag)s, %(is_protective)s, %(deleted)s, %(few)s, %(most)s
) with ordinality as found (found_id, found_rank, is_match, place)
order by place
