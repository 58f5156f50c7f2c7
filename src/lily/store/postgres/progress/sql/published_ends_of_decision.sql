-- Whether the tenant's last decision has been published, and the end offsets of the change log at that time.
select b.published_at is not null, b.ends
from (
  select batch_id from decisions where tenant_id = %(tenant)s order by batch_id desc limit 1
) d
join batches b on b.id = d.batch_id
