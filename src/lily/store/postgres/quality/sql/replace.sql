-- Replaces a policy; all of its assets are judged again. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  update quality_policies p
  set asset_id = %(asset_id)s, policy_type = %(policy_type)s, body = %(body)s, delay_hours = %(delay_hours)s,
      updated_at = clock_timestamp(), judged_at = null
  where p.tenant_id = %(tenant)s and p.key = %(key)s
  returning p.key as name, old.body as before, p.body as after
)
