-- Lets a disabled user in again. access_changed.sql audits what `changed` returns.
with changed as (
  delete from disabled_users where tenant_id = %(tenant)s and user_name = folded_user(%(user)s)
  returning tenant_id, user_name as entity, jsonb_build_object('name', %(user)s::text) as detail
)
