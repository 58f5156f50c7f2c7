select d.tenant_id, d.asset_id::text, d.facets
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as given (tenant_id, id)
cross join lateral (
  select * from design_facets d where d.asset_id = given.id and d.tenant_id = given.tenant_id offset 0
) d
