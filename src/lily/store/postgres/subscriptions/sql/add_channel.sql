-- Adds a channel unless there is one of that name, or as many as there may be. Concurrent calls may add a few more: the
-- limit protects the time of matching, which these do not change. record.sql records what `decided` returns.
with decided as (
  insert into notification_channels as c (tenant_id, key, name, type, per_second, wrapped_key, sealed)
  select %(tenant)s, %(key)s, %(name)s, %(type)s, %(per_second)s, %(wrapped_key)s, %(sealed)s
  where %(most)s::bigint is null
     or (select count(*) from notification_channels o where o.tenant_id = %(tenant)s) < %(most)s
  on conflict do nothing
  returning c.key as name, null::jsonb as before,
            jsonb_build_object('name', c.name, 'type', c.type, 'per_second', c.per_second) as after
)
