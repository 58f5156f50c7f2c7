-- Decisions about the user change as well: increments the tenant's version, notifies the processes that decide, and
-- queues the change for publication, which brings the targets of enforcement in line.
, bumped as (
  update access_versions v
  set version = v.version + 1, changed_at = greatest(clock_timestamp(), v.changed_at + interval '1 microsecond')
  from changed
  where v.tenant_id = changed.tenant_id
  returning pg_notify('lily_policies', v.tenant_id)
),
batch as (
  insert into batches (published_at) select null from changed returning id, pg_notify('lily_applied', '')
),
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, changed.tenant_id, %(kind)s, changed.entity,
         case when %(action)s = 'user.enabled' then changed.detail end,
         case when %(action)s = 'user.disabled' then changed.detail end, %(by)s
  from batch, changed
)
