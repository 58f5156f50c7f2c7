select 1 from parked_tenants where reaction = %(reaction)s and tenant_id = %(tenant)s
