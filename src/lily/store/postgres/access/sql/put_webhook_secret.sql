-- The new secret, and an end for the one before. Sent twice, it does the same: the second time `fresh` is empty.
with fresh as (
  select where not exists (select from secrets where tenant_id = %(tenant)s and name = %(name)s)
),
ended as (
  delete from secrets s using fresh
  where s.tenant_id = %(tenant)s and starts_with(s.name, %(prefix)s) and (s.expires_at is not null or %(seconds)s = 0)
),
kept as (
  update secrets s set expires_at = now() + make_interval(secs => %(seconds)s) from fresh
  where s.tenant_id = %(tenant)s and starts_with(s.name, %(prefix)s) and s.expires_at is null and %(seconds)s > 0
),
added as (
  insert into secrets (tenant_id, name, wrapped_key, sealed)
  select %(tenant)s, %(name)s, %(wrapped)s, %(sealed)s from fresh
  on conflict do nothing
  returning name
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, 'webhook-secret.put', %(source)s, jsonb_build_object('previous_valid_seconds', %(seconds)s::integer)
  from added
)
select count(*), pg_notify('lily_webhooks', %(tenant)s) from added
