-- Creates or replaces a subscription, if its channel exists. A new one needs room below the limit, which concurrent calls may
-- exceed by a few, as in add_channel.sql. record.sql records what `decided` returns.
with decided as (
  insert into subscriptions as s (tenant_id, id, name, channel, is_enabled, changes, body)
  select %(tenant)s, %(id)s, %(name)s, c.key, %(enabled)s, %(changes)s::text[], %(body)s
  from notification_channels c
  where c.tenant_id = %(tenant)s and c.key = %(channel)s
    and (%(most)s::bigint is null
         or exists (select from subscriptions o where o.tenant_id = %(tenant)s and o.id = %(id)s)
         or (select count(*) from subscriptions o where o.tenant_id = %(tenant)s) < %(most)s)
  on conflict (tenant_id, id) do update
  set name = excluded.name, channel = excluded.channel, is_enabled = excluded.is_enabled, changes = excluded.changes,
      body = excluded.body, updated_at = clock_timestamp()
  returning s.id::text as name, old.body as before, new.body as after
)
