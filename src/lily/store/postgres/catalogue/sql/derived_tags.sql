-- The derived tags of assets, given their parents. The assets themselves need not be in PostgreSQL.
select asset_id::text, propagated, inherited
from reached_from_elsewhere(%(tenant)s, %(tags)s::text[], %(cut)s, %(ids)s::uuid[], %(parents)s::uuid[])
