-- The newest batch of the lake when the asset came to PostgreSQL; no row if it never did.
select (select coalesce(max(number), 0) from lake_batches b where b.committed_at <= c.committed_at)
from changes c
where tenant_id = %(tenant)s and asset_id = %(id)s::uuid
order by position
limit 1
