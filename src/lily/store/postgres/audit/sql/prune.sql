-- In order of tenants, as other transactions take the locks of chains.
select coalesce(sum(prune_audit(t.id, now() - %(keep)s::interval, %(most)s::bigint)), 0)
from (select id from tenants order by id) t
