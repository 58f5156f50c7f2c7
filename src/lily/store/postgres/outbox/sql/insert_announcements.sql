-- One batch for all.
with batch as (
  insert into batches (topic) select null where jsonb_array_length(%(bodies)s) > 0 returning id
)
insert into announcements (batch_id, tenant_id, body)
select batch.id, %(tenant)s, a.body
from batch, jsonb_array_elements(%(bodies)s) with ordinality as a (body, place)
order by a.place
