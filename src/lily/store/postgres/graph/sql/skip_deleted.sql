and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = e.{there} and a.is_deleted)
