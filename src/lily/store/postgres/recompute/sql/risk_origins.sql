-- The assets of incidents that are not resolved.
select o.incident_id::text, o.asset_id::text
from incident_assets o join incidents i on i.tenant_id = o.tenant_id and i.incident_id = o.incident_id
where o.tenant_id = %(tenant)s and i.state <> 'resolved'
