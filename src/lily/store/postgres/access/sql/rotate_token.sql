-- A new token in the place of a valid one, which ends after the grace period. Its id is unique over all tenants.
-- access_changed.sql audits what `changed` returns.
with replaced as (
  select id, tenant_id, scopes, user_name, scraper_group,
         coalesce(make_interval(secs => %(ttl_seconds)s), expires_at - created_at, make_interval(secs => %(default_seconds)s)) as valid_for
  from tokens
  where id = %(id)s and revoked_at is null and (expires_at is null or expires_at > now())
  for update
),
ending as (
  update tokens t set expires_at = least(t.expires_at, now() + make_interval(secs => %(grace_seconds)s))
  from replaced r where t.id = r.id
  returning t.expires_at
),
changed as (
  insert into tokens (tenant_id, hash, scopes, user_name, expires_at, scraper_group, replaces)
  select tenant_id, %(hash)s, scopes, user_name, now() + valid_for, scraper_group, id from replaced
  returning tenant_id, replaces::text as entity, jsonb_build_object(
    'replaced_by', id, 'scopes', scopes, 'user', user_name, 'expires_at', expires_at,
    'valid_until', (select expires_at from ending)) as detail
)
