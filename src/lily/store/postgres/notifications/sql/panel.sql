-- The newest notifications below a position.
select n.position, n.assets::text[], jsonb_build_object(
         'id', n.notification_id, 'at', utc_stamp(n.at), 'kind', n.kind, 'severity', n.severity, 'title', n.title,
         'text', n.text, 'event', n.event_id, 'incident_id', n.incident_id, 'muted', n.is_muted,
         'assets', (select coalesce(jsonb_agg(jsonb_build_object('id', s.one -> 0, 'entity_type', s.one -> 1,
                                                                 'qualified_name', s.one -> 2)), '[]')
                    from jsonb_array_elements(n.event -> 'subjects') as s (one)),
         'acknowledged_by', n.acknowledged_by, 'acknowledged_at', utc_stamp(n.acknowledged_at))
from notifications n
where n.tenant_id = %(tenant)s and (%(below)s::bigint is null or n.position < %(below)s)
  and (%(id)s::uuid is null or n.notification_id = %(id)s)
  and (%(kind)s::text is null or n.kind like %(kind)s
       or exists (select from jsonb_array_elements_text(n.event -> 'kinds') as k (kind) where k.kind like %(kind)s))
  and (%(severity)s::text is null or n.severity = %(severity)s)
  and (%(acknowledged)s::boolean is null or (n.acknowledged_at is not null) = %(acknowledged)s)
  and (%(asset)s::uuid is null or n.assets @> array[%(asset)s::uuid])
  and (%(incident)s::uuid is null or n.incident_id = %(incident)s)
  and (%(muted)s::boolean is null or n.is_muted = %(muted)s)
  and (%(of_incidents)s::boolean is null or (n.incident_id is not null) = %(of_incidents)s)
order by n.position desc
limit %(limit)s
