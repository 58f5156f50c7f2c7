update parked_tenants set unfinished = %(events)s, attempts = 0, reason = '', drained_at = clock_timestamp()
where reaction = %(reaction)s and tenant_id = %(tenant)s
