-- Keeps a user out. access_changed.sql audits what `changed` returns.
with changed as (
  insert into disabled_users (tenant_id, user_name) values (%(tenant)s, folded_user(%(user)s))
  on conflict do nothing
  returning tenant_id, user_name as entity, jsonb_build_object('name', %(user)s::text) as detail
)
