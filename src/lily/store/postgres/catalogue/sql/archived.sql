-- Until when the history of an asset has left PostgreSQL, and the events of the changes that are still here; no row if it is
-- here from its beginning.
select h.last_at, array(
  select distinct cause ->> 'id'
  from changes c cross join lateral jsonb_array_elements(c.causes) cause
  where c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid and c.committed_at > h.last_at)
from archived_changes h
where h.tenant_id = %(tenant)s and h.asset_id = %(id)s::uuid
