select first_day, last_day from usage_reports where tenant_id = %(tenant)s
