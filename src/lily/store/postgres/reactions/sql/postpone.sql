update parked_tenants
set attempts = attempts + 1, reason = %(reason)s, drained_at = clock_timestamp(),
    retry_at = clock_timestamp()
               + make_interval(secs => (%(pauses)s::integer[])[least(attempts + 1, cardinality(%(pauses)s::integer[]))])
where reaction = %(reaction)s and tenant_id = %(tenant)s
