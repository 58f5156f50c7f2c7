select attribute from propagation_rules where tenant_id = %(tenant)s
