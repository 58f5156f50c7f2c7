-- Keeps a user out. user_changed.sql and access_changed.sql follow.
with changed as (
  insert into disabled_users (tenant_id, user_name) values (%(tenant)s, folded_user(%(user)s))
  on conflict do nothing
  returning tenant_id, user_name as entity, jsonb_build_object('name', %(user)s::text) as detail
)
