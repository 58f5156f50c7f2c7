-- The newest batch of the lake when the asset came to PostgreSQL; no row if it never did.
select (select coalesce(max(number), 0) from lake_batches b where b.committed_at <= came.at)
from (
  select least(
    (select h.first_at from archived_changes h where h.tenant_id = %(tenant)s and h.asset_id = %(id)s::uuid),
    (select c.committed_at from changes c where c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid
     order by c.position limit 1)) as at
) came
where came.at is not null
