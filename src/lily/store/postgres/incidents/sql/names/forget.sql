delete from incident_names n
using unnest(%(folded)s::text[], %(ids)s::uuid[]) as m (folded, incident_id)
where n.tenant_id = %(tenant)s and n.folded = m.folded and n.incident_id = m.incident_id
