-- Adds a target unless there is one of that name. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  insert into enforcement_targets as t (tenant_id, key, name, type, data_source, roles, wrapped_key, sealed)
  values (%(tenant)s, %(key)s, %(name)s, %(type)s, %(data_source)s, %(roles)s, %(wrapped_key)s, %(sealed)s)
  on conflict do nothing
  returning t.key as name, null::jsonb as before,
            jsonb_build_object('name', t.name, 'type', t.type, 'data_source', t.data_source, 'roles', t.roles) as after
)
