-- Deletes notifications that are older than the time to keep, with their receipts. Those that wait keep theirs.
with gone as (
  delete from notifications n
  where n.created_at < now() - %(keep)s::interval
    and not exists (select from deliveries d where d.tenant_id = n.tenant_id and d.notification_id = n.notification_id
                    and d.state in ('waiting', 'held', 'grouped'))
  returning n.tenant_id, n.notification_id
),
receipts as (
  delete from deliveries d using gone where d.tenant_id = gone.tenant_id and d.notification_id = gone.notification_id
)
select count(*) from gone
