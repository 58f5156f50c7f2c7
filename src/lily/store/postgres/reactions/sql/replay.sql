-- Parks dead letters of reactions for another attempt, and marks them as replayed in the same statement, because a
-- reaction may refuse one again at once. The topic of such a dead letter is TOPIC@REACTION.
with letters as (
  select split_part(topic, '@', 1) as topic, split_part(topic, '@', 2) as reaction, partition, "offset", key, original
  from dead_letters
  where tenant_id = %(tenant)s and id = any(%(ids)s::bigint[])
  order by id
),
waiting as (
  insert into parked_tenants (reaction, tenant_id)
  select distinct reaction, %(tenant)s from letters
  on conflict (reaction, tenant_id) do update set retry_at = clock_timestamp(), attempts = 0
),
marked as (
  update dead_letters set replayed_at = clock_timestamp() where tenant_id = %(tenant)s and id = any(%(ids)s::bigint[])
)
insert into parked_events (reaction, tenant_id, topic, partition, "offset", key, value)
select reaction, %(tenant)s, topic, partition, "offset", key, coalesce(original, '')
from letters
returning id
