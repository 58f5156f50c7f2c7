-- Audits what `decided` (name, before, after) returns, and returns it.
, audited as (
  insert into audit (tenant_id, principal, action, entity, correlation, detail)
  select %(tenant)s, %(by)s, %(action)s, decided.name, %(correlation)s,
         jsonb_build_object('before', decided.before, 'after', decided.after)
  from decided
)
select decided.name, decided.before, decided.after from decided
