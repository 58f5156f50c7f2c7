-- At most so many assets of the incident `i`: id, type and name. For a column that only the lake has, from its graph node.
left join lateral (
  select jsonb_agg(jsonb_build_array(c.asset_id, coalesce(s.entity_type, g.entity_type),
                                     coalesce(s.qualified_name, g.qualified_name)) order by c.asset_id) as assets
  from (
    select asset_id from incident_assets
    where tenant_id = %(tenant)s and incident_id = i.incident_id
    order by asset_id limit %(assets)s
  ) c
  left join assets s on s.tenant_id = %(tenant)s and s.id = c.asset_id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = c.asset_id
) a on true
