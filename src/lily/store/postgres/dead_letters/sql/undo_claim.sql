update dead_letters set replayed_at = null
where tenant_id = %(tenant)s and id = any(%(ids)s::bigint[]) and replayed_at = %(claimed_at)s
returning id
