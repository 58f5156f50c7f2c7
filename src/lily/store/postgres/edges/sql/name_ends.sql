-- Stores the names of those ends that are not assets. In the order of their ids, because other transactions may name the
-- same ones.
insert into named_ends (tenant_id, id, qualified_name, named_at)
select given.tenant_id, given.id, given.qualified_name, given.named_at
from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(names)s::text[], %(times)s::timestamptz[])
     as given (tenant_id, id, qualified_name, named_at)
where not exists (select from assets a where a.id = given.id and a.tenant_id = given.tenant_id)
order by given.id, given.tenant_id
on conflict do nothing
