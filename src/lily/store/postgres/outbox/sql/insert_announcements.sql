-- One batch for all.
with batch as (
  insert into batches (topic) select null where cardinality(%(bodies)s::jsonb[]) > 0 returning id
)
insert into announcements (batch_id, tenant_id, body)
select batch.id, %(tenant)s, a.body
from batch, unnest(%(bodies)s::jsonb[]) with ordinality as a (body, place)
order by a.place
