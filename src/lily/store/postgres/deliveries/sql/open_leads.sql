-- Deliveries that others may join. One that a worker is sending is locked and counts as closed: waiting for it would make
-- the reaction wait for the receiver.
select subscription_id::text, target, delivery_id::text
from deliveries
where tenant_id = %(tenant)s and is_lead and state in ('waiting', 'held') and due_at > clock_timestamp()
  and (subscription_id, target) in (
    select s.id, s.target from unnest(%(subscriptions)s::uuid[], %(targets)s::text[]) as s (id, target))
for update skip locked
