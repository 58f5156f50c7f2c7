-- Replaces a channel with its configuration. record.sql records what `decided` returns.
with decided as (
  update notification_channels c
  set type = %(type)s, per_second = %(per_second)s, wrapped_key = %(wrapped_key)s, sealed = %(sealed)s,
      version = c.version + 1, updated_at = clock_timestamp()
  where c.tenant_id = %(tenant)s and c.key = %(key)s
  returning c.key as name, jsonb_build_object('name', c.name, 'type', old.type, 'per_second', old.per_second) as before,
            jsonb_build_object('name', c.name, 'type', new.type, 'per_second', new.per_second, 'configured', true) as after
)
