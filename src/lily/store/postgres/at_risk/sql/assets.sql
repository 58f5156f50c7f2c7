-- The next assets, after `start`, that an incident puts at risk: its own, and those reached along edges. Those that only
-- the lake has are described by their graph node.
select r.asset_id::text, coalesce(a.qualified_name, g.qualified_name), coalesce(a.name, g.name),
       coalesce(a.entity_type, g.entity_type), coalesce(a.is_deleted, g.is_deleted, false), r.via::text
from (
  select r.asset_id, r.via from at_risk r
  where r.tenant_id = %(tenant)s and r.incident_id = %(incident)s::uuid and r.asset_id > %(start)s::uuid
  order by r.asset_id
  limit %(limit)s
) r
left join assets a on a.tenant_id = %(tenant)s and a.id = r.asset_id
left join graph_nodes g on g.id = r.asset_id and g.tenant_id = %(tenant)s
order by r.asset_id
