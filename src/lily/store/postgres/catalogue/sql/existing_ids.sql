-- Those of the given assets that PostgreSQL has.
select a.tenant_id, a.id::text
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as asked (tenant_id, id)
join assets a on a.tenant_id = asked.tenant_id and a.id = asked.id
