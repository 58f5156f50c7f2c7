-- The incidents as they are announced, with at most a thousand of their assets: id, type and name.
select i.incident_id::text, i.source, i.external_id, i.severity, i.state, i.title, i.url, i.kind,
       coalesce(a.assets, '[]'::jsonb)
from incidents i
left join lateral (
  select jsonb_agg(jsonb_build_array(c.asset_id, coalesce(s.entity_type, g.entity_type),
                                     coalesce(s.qualified_name, g.qualified_name)) order by c.asset_id) as assets
  from (
    select asset_id from incident_assets
    where tenant_id = %(tenant)s and incident_id = i.incident_id
    order by asset_id limit 1000
  ) c
  left join assets s on s.tenant_id = %(tenant)s and s.id = c.asset_id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = c.asset_id
) a on true
where i.tenant_id = %(tenant)s and i.incident_id = any (%(ids)s::uuid[])
