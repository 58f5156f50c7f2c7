-- Queues what a decision changed for publication, and audits it. Follows `decided` (name, before, after) and `batch`,
-- which is empty if nothing changed.
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, %(tenant)s, %(kind)s, decided.name, decided.before, decided.after, %(by)s from batch, decided
),
audited as (
  insert into audit (tenant_id, principal, action, entity, correlation, detail)
  select %(tenant)s, %(by)s, %(action)s, decided.name, %(correlation)s,
         jsonb_build_object('before', decided.before, 'after', decided.after)
  from batch, decided
)
