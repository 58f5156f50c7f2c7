-- Follows the statement of every decision: if it changed something, queues the change for publication and audits it.
, batch as (
  insert into batches (published_at) select null from decided where before is distinct from after returning id
),
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, %(tenant)s, %(kind)s, decided.name, decided.before, decided.after, %(by)s from batch, decided
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, %(action)s, decided.name,
         jsonb_build_object('before', decided.before, 'after', decided.after, 'correlation', %(correlation)s::text)
  from batch, decided
)
select decided.name, pg_notify('lily_tags', %(tenant)s), pg_notify('lily_applied', '') from decided
