update dead_letters set replayed_at = clock_timestamp()
where tenant_id = %(tenant)s and id = any(%(ids)s::bigint[])
returning id
