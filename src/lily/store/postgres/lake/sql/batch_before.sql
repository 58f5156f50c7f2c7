-- The newest batch of the lake that was there when the serving store took an asset over; no row where it never did.
select (select coalesce(max(number), 0) from lake_batches b where b.committed_at <= c.committed_at)
from changes c
where tenant_id = %(tenant)s and asset_id = %(id)s::uuid
order by position
limit 1
