-- Assets, of all tenants, that may have a state in the lake that has not been promoted yet. Each tenant has a share: the
-- tagged columns of one tenant can be more than are promoted meanwhile.
with recursive waiting (tenant_id) as (
  (select tenant_id from assets where awaits_lake order by tenant_id limit 1)
  union all
  select next.tenant_id
  from waiting w
  cross join lateral (
    select tenant_id from assets a where a.awaits_lake and a.tenant_id > w.tenant_id order by a.tenant_id limit 1
  ) next
),
shared as materialized (
  select tenant_id, greatest(%(limit)s / count(*) over (), 1) as share from waiting limit %(limit)s
)
select a.tenant_id, a.id::text
from shared
cross join lateral (
  select tenant_id, id from assets where awaits_lake and tenant_id = shared.tenant_id order by id limit shared.share
) a
