select incident_id::text, asset_id::text from at_risk where tenant_id = %(tenant)s
