-- Ends a token. Its id is unique over all tenants. access_changed.sql audits what `changed` returns.
with changed as (
  update tokens set revoked_at = now() where id = %(id)s and revoked_at is null
  returning tenant_id, id::text as entity, jsonb_build_object('scopes', scopes, 'user', user_name) as detail
)
