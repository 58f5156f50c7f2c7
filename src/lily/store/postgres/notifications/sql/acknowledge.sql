-- The first acknowledgement counts.
update notifications n
set acknowledged_by = coalesce(n.acknowledged_by, %(by)s), acknowledged_at = coalesce(n.acknowledged_at, clock_timestamp())
where n.tenant_id = %(tenant)s and n.notification_id = %(id)s
returning n.acknowledged_by, utc_stamp(n.acknowledged_at)
