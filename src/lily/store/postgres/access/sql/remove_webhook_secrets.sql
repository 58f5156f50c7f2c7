with removed as (
  delete from secrets where tenant_id = %(tenant)s and starts_with(name, %(prefix)s) returning name
),
audited as (
  insert into audit (tenant_id, principal, action, entity)
  select %(tenant)s, %(by)s, 'webhook-secret.removed', %(source)s where exists (select from removed)
)
select count(*), pg_notify('lily_webhooks', %(tenant)s) from removed
