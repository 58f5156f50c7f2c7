update enforcement_targets set plan = %(plan)s where tenant_id = %(tenant)s and key = %(key)s
