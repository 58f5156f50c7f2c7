-- Stores a token. access_changed.sql audits what `changed` returns.
with changed as (
  insert into tokens (tenant_id, hash, scopes, user_name, expires_at, scraper_group)
  values (%(tenant)s, %(hash)s, %(scopes)s, %(user)s, now() + make_interval(secs => %(ttl_seconds)s),
          nullif(%(scraper_group)s, ''))
  returning tenant_id, id::text as entity, jsonb_build_object(
    'scopes', scopes, 'user', user_name, 'expires_at', expires_at, 'scraper_group', scraper_group) as detail
)
