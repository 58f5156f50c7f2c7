-- Lets a disabled user in again; a directory only a user whom it disabled itself. user_changed.sql and
-- access_changed.sql follow.
with changed as (
  delete from disabled_users
  where tenant_id = %(tenant)s and user_name = folded_user(%(user)s) and %(source)s in ('', disabled_by)
  returning tenant_id, user_name as entity, jsonb_build_object('name', %(user)s::text) as detail
)
