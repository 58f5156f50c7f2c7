-- Creates a policy unless there is one of that id, or as many as there may be; concurrent calls may create a few more. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  insert into quality_policies as p (tenant_id, key, asset_id, policy_type, body, delay_hours)
  select %(tenant)s, %(key)s, %(asset_id)s, %(policy_type)s, %(body)s, %(delay_hours)s
  where %(most)s::bigint is null
     or (select count(*) from quality_policies o where o.tenant_id = %(tenant)s) < %(most)s
  on conflict do nothing
  returning p.key as name, null::jsonb as before, p.body as after
)
