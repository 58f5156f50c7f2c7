select failures, paused_until, tokens, refilled_at, error, is_gone, clock_timestamp()
from (select) as one
left join delivery_targets t on t.tenant_id = %(tenant)s and t.target = %(target)s
