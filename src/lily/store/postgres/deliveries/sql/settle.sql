-- What became of deliveries. Without a state they are to be tried again. One that had failed was replayed, and counts anew.
update deliveries d
set state = coalesce(o.state, case when d.state <> 'failed' then d.state when d.lead is null then 'waiting' else 'grouped' end),
    receiver_id = case when o.state = 'delivered' then o.receiver else d.receiver_id end, error = o.error,
    attempts = case when d.state = 'failed' then 0 else d.attempts end + o.attempts, attempted_at = clock_timestamp(),
    reason = case when o.state = 'suppressed' then o.error else d.reason end,
    delivered_at = case when o.state = 'delivered' then clock_timestamp() else d.delivered_at end
from jsonb_to_recordset(%(rows)s) as o (id uuid, state text, receiver text, error text, attempts integer)
where d.tenant_id = %(tenant)s and d.delivery_id = o.id
