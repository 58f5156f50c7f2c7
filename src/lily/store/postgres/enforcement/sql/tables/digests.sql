select path, digest from enforcement_tables
where tenant_id = %(tenant)s and target = %(key)s and digest is not null and error is null
