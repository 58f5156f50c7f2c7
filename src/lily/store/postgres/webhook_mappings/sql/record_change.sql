-- Follows every change of a mapping: audits it, and notifies the processes that receive webhooks.
, audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, %(action)s, changed.name, jsonb_build_object('mapping', %(body)s::jsonb) from changed
)
select (select count(*) from changed), pg_notify('lily_webhooks', %(tenant)s)
