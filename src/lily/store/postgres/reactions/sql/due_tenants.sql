select tenant_id from parked_tenants
where reaction = %s and retry_at <= clock_timestamp()
order by drained_at nulls first, tenant_id
limit %s
