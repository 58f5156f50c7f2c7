-- Creates a policy unless there is one of that id. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  insert into quality_policies as p (tenant_id, key, asset_id, policy_type, body, delay_hours)
  values (%(tenant)s, %(key)s, %(asset_id)s, %(policy_type)s, %(body)s, %(delay_hours)s)
  on conflict do nothing
  returning p.key as name, null::jsonb as before, p.body as after
)
