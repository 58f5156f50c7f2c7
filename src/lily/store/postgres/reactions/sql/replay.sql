-- Parks dead letters of reactions for another attempt, and marks them as replayed in the same statement, because a
-- reaction may refuse one again at once. A letter that is replayed already is left out, so of concurrent calls one replays
-- each. The topic of such a dead letter is TOPIC@REACTION.
with free as (
  select id
  from dead_letters
  where tenant_id = %(tenant)s and id = any(%(ids)s::bigint[]) and replayed_at is null
  for update skip locked
),
letters as (
  update dead_letters d set replayed_at = clock_timestamp()
  from free
  where d.tenant_id = %(tenant)s and d.id = free.id
  returning d.id, split_part(d.topic, '@', 1) as topic, split_part(d.topic, '@', 2) as reaction, d.partition, d."offset",
            d.key, d.original
),
waiting as (
  insert into parked_tenants (reaction, tenant_id)
  select distinct reaction, %(tenant)s from letters
  on conflict (reaction, tenant_id) do update set retry_at = clock_timestamp(), attempts = 0
),
parked as (
  insert into parked_events (reaction, tenant_id, topic, partition, "offset", key, value)
  select reaction, %(tenant)s, topic, partition, "offset", key, coalesce(original, '')
  from letters
  order by id
)
select id from letters order by id
