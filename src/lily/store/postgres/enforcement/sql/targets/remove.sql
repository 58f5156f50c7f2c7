-- Marks a target for removal; stopped as well, it is deleted without a call to it. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  update enforcement_targets t set is_removed = true, is_stopped = %(forget)s
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name, null::jsonb as after,
            jsonb_build_object('name', t.name, 'type', t.type, 'data_source', t.data_source, 'roles', t.roles) as before
)
