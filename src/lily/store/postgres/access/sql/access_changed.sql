-- Follows every change of who may use Lily: audits it, and notifies the processes that authenticate. Returns whether
-- anything changed.
, audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select tenant_id, %(by)s, %(action)s, entity, detail from changed
)
select exists (select from changed), pg_notify('lily_access', '')
