select 1 from incident_history
where tenant_id = %(tenant)s and incident_id = %(id)s::uuid and event_id = %(event)s
