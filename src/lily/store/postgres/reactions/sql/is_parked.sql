select 1 from parked_tenants where reaction = %s and tenant_id = %s
