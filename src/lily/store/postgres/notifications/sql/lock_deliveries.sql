-- From then on no other delivery joins them; what joined before is seen by the next statement.
select delivery_id from deliveries
where tenant_id = %(tenant)s and delivery_id = any (%(ids)s::uuid[]) and state in ('waiting', 'held', 'failed')
for update
