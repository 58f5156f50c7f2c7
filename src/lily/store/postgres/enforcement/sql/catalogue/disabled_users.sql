select user_name from disabled_users where tenant_id = %(tenant)s order by user_name limit %(limit)s
