-- A person reports that a script was run. outbox/record_and_queue.sql records what `decided` returns.
with decided as (
  select t.key as name, null::jsonb as before, jsonb_build_object('name', t.name, 'digest', %(digest)s::text) as after
  from enforcement_targets t
  where t.tenant_id = %(tenant)s and t.key = %(key)s and not t.is_removed
)
