-- The assets that incidents concern, by name; by id where there is none. For a column that only the lake has, from its graph
-- node.
select i.incident_id::text, coalesce(array_agg(coalesce(s.qualified_name, g.qualified_name, c.asset_id::text))
                                     filter (where c.asset_id is not null), '{}')
from incidents i
left join incident_assets c on c.tenant_id = %(tenant)s and c.incident_id = i.incident_id
left join assets s on s.tenant_id = %(tenant)s and s.id = c.asset_id
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = c.asset_id
where i.tenant_id = %(tenant)s and i.incident_id = any (%(ids)s::uuid[])
group by i.incident_id
