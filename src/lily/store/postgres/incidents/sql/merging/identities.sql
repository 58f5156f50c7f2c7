select incident_id::text, source, external_id from incidents
where tenant_id = %(tenant)s and incident_id = any (%(ids)s::uuid[])
