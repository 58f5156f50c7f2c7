-- Marks nodes about which the lake is about to hold something new, such as another parent.
update graph_nodes g set awaits_lake = true
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as t (tenant_id, id)
where g.id = t.id and g.tenant_id = t.tenant_id and not g.awaits_lake
  and not exists (select from assets a where a.tenant_id = t.tenant_id and a.id = t.id)
