-- Creates or replaces a subscription, if its channel exists. record.sql records what `decided` returns.
with decided as (
  insert into subscriptions as s (tenant_id, id, name, channel, is_enabled, changes, body)
  select %(tenant)s, %(id)s, %(name)s, c.key, %(enabled)s, %(changes)s::text[], %(body)s
  from notification_channels c
  where c.tenant_id = %(tenant)s and c.key = %(channel)s
  on conflict (tenant_id, id) do update
  set name = excluded.name, channel = excluded.channel, is_enabled = excluded.is_enabled, changes = excluded.changes,
      body = excluded.body, updated_at = clock_timestamp()
  returning s.id::text as name, old.body as before, new.body as after
)
