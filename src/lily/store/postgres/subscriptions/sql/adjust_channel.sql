-- Changes a channel whose configuration stays. The API cannot read that, so it cannot be part of the statement.
with decided as (
  update notification_channels c
  set per_second = %(per_second)s, version = c.version + 1, updated_at = clock_timestamp()
  where c.tenant_id = %(tenant)s and c.key = %(key)s and c.type = %(type)s
  returning c.key as name, jsonb_build_object('name', c.name, 'type', c.type, 'per_second', old.per_second) as before,
            jsonb_build_object('name', c.name, 'type', c.type, 'per_second', new.per_second) as after
)
