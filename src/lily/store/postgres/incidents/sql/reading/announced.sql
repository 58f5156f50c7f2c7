-- The incidents as they are announced, with at most a thousand of their assets: id, type and name.
select i.incident_id::text, i.source, i.external_id, i.severity, i.state, i.title, i.url, i.kind,
       coalesce(a.assets, '[]'::jsonb)
from incidents i
{assets}
where i.tenant_id = %(tenant)s and i.incident_id = any (%(ids)s::uuid[])
