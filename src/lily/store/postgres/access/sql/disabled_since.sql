select since from disabled_users where tenant_id = %(tenant)s and user_name = folded_user(%(user)s)
