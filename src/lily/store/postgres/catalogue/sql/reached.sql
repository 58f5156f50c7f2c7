-- What reached assets of which only the parents are known.
select asset_id::text, propagated, inherited
from reached_from_elsewhere(%(tenant)s, %(tags)s::text[], %(cut)s, %(ids)s::uuid[], %(parents)s::uuid[])
