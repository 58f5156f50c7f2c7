-- Those of the given assets that PostgreSQL has. `offset 0` makes it look up each of them, whatever the statistics say: where
-- they say that there are no assets, it would go through the given ones for each asset that there is.
select asked.tenant_id, asked.id::text
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as asked (tenant_id, id)
cross join lateral (select from assets a where a.tenant_id = asked.tenant_id and a.id = asked.id offset 0) a
