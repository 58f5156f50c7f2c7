insert into propagated (batch_id, tenant_id, tag, change, root, assets)
select %(batch)s, %(tenant)s, tag, 'new-origin', origin, array[asset]
from unnest(%(tags)s::text[], %(origins)s::uuid[], %(assets)s::uuid[]) as found (tag, origin, asset)
