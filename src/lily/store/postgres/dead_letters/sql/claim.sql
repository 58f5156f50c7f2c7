-- Marks dead letters as replayed before they are, so that of concurrent calls one replays each. Idempotent: the same claim
-- again finds its own letters.
with free as (
  select id
  from dead_letters
  where tenant_id = %(tenant)s and emptied_at is null and id = any(%(ids)s::bigint[])
    and (replayed_at is null or replayed_at = %(claimed_at)s)
  for update skip locked
)
update dead_letters d set replayed_at = %(claimed_at)s
from free
where d.tenant_id = %(tenant)s and d.id = free.id
returning d.id, d.topic, d.key, d.original
