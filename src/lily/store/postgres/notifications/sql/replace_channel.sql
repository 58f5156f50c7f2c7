-- Replaces a channel. Without a new configuration the stored one stays.
with decided as (
  update notification_channels c
  set type = %(type)s, per_second = %(per_second)s, wrapped_key = coalesce(%(wrapped_key)s, c.wrapped_key),
      sealed = coalesce(%(sealed)s, c.sealed), version = c.version + 1, updated_at = clock_timestamp()
  where c.tenant_id = %(tenant)s and c.key = %(key)s and (%(sealed)s::bytea is not null or c.type = %(type)s)
  returning c.key as name, jsonb_build_object('name', c.name, 'type', old.type, 'per_second', old.per_second) as before,
            jsonb_build_object('name', c.name, 'type', new.type, 'per_second', new.per_second,
                               'configured', %(sealed)s::bytea is not null) as after
)
