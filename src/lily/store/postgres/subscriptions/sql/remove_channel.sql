-- Removes a channel that no subscription names.
with decided as (
  delete from notification_channels c
  where c.tenant_id = %(tenant)s and c.key = %(key)s
    and not exists (select from subscriptions s where s.tenant_id = %(tenant)s and s.channel = c.key)
  returning c.key as name, jsonb_build_object('name', c.name, 'type', c.type) as before, null::jsonb as after
)
