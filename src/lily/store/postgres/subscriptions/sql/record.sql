-- Audits what `decided` (name, before, after) returns, and returns it.
, audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, %(action)s, decided.name,
         jsonb_build_object('before', decided.before, 'after', decided.after, 'correlation', %(correlation)s::text)
  from decided
)
select decided.name, decided.before, decided.after from decided
