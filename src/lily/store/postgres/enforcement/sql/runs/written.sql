select t.plan -> 'written' from enforcement_targets t where t.tenant_id = %(tenant)s and t.key = %(key)s
