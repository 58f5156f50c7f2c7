-- Deletes a policy; a job closes its findings. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  delete from quality_policies p
  where p.tenant_id = %(tenant)s and p.key = %(key)s
  returning p.key as name, p.body as before, null::jsonb as after
)
