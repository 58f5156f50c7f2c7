-- Keeps a user out. An administrator takes over a user whom a directory disabled, so that the directory cannot let the
-- user in again. user_changed.sql and access_changed.sql follow.
with changed as (
  insert into disabled_users as known (tenant_id, user_name, disabled_by)
  values (%(tenant)s, folded_user(%(user)s), %(source)s)
  on conflict (tenant_id, user_name) do update set disabled_by = excluded.disabled_by
    where known.disabled_by <> '' and excluded.disabled_by = ''
  returning tenant_id, user_name as entity, jsonb_build_object('name', %(user)s::text) as detail
)
