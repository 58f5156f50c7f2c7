delete from parked_events where reaction = %s and tenant_id = %s and id <= %s
