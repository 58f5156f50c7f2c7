insert into disabled_users (tenant_id, user_name) values (%(tenant)s, folded_user(%(user)s))
on conflict do nothing
returning true
