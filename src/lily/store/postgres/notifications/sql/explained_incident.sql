select jsonb_build_object('incident_id', i.incident_id, 'source', i.source, 'external_id', i.external_id, 'severity', i.severity,
                          'state', i.state, 'title', i.title, 'url', i.url, 'kind', i.kind),
       utc_stamp(i.updated_at),
       array(select a.asset_id::text from incident_assets a
             where a.tenant_id = %(tenant)s and a.incident_id = i.incident_id limit 1000)
from incidents i
where i.tenant_id = %(tenant)s and i.incident_id = %(id)s::uuid
