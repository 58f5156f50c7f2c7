select path, digest, announced, version from enforcement_tables where tenant_id = %(tenant)s and target = %(key)s
