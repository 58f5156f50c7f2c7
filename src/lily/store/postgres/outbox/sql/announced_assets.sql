-- Id, type and name of assets; for a column that only the lake has, from its graph node.
select i.id::text, coalesce(a.entity_type, g.entity_type), coalesce(a.qualified_name, g.qualified_name)
from unnest(%(ids)s::uuid[]) with ordinality as i (id, place)
left join assets a on a.tenant_id = %(tenant)s and a.id = i.id
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = i.id
order by i.place
