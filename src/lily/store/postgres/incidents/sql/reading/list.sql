-- Incidents, newest first, with the first of their assets (id, type and name) and the names that no asset has.
select i.incident_id::text, i.source, i.external_id, i.state, i.severity, i.title, i.description, i.url, i.kind, i.owner,
       i.opened_at, i.acknowledged_at, i.resolved_at, i.updated_at, coalesce(a.assets, '[]'::jsonb),
       array(select n.name from incident_names n
             where n.tenant_id = %(tenant)s and n.incident_id = i.incident_id order by n.name limit %(assets)s)
from incidents i
{assets}
where i.tenant_id = %(tenant)s
  and (%(id)s::uuid is null or i.incident_id = %(id)s::uuid)
  and (%(state)s::text is null or i.state = %(state)s)
  and (%(severity)s::text is null or i.severity = %(severity)s)
  and (%(source)s::text is null or i.source = %(source)s)
  and (%(asset)s::uuid is null or i.incident_id = any (array(
        select c.incident_id from incident_assets c
        where c.tenant_id = %(tenant)s and c.asset_id = %(asset)s::uuid)))
  and i.title ilike all (%(words)s::text[])
  and (%(at)s::timestamptz is null or i.opened_at < %(at)s::timestamptz
       or (i.opened_at = %(at)s::timestamptz and i.incident_id > %(last)s::uuid))
order by i.opened_at desc, i.incident_id
limit %(limit)s
