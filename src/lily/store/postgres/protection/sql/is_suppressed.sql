select from assets a where a.tenant_id = %(tenant)s and a.id = %(id)s::uuid and %(tag)s = any (a.suppressed)
