-- The changes of one asset, newest first, below a position if one is given. What is as old as what has left PostgreSQL is shown
-- by the lake, also where it was kept for another reason.
select position, tenant_id, asset_id::text, qualified_name, entity_type, layer, version, before, after, causes, committed_at
from changes
where tenant_id = %(tenant)s and asset_id = %(id)s::uuid and (%(below)s::bigint is null or position < %(below)s::bigint)
  and committed_at > coalesce((
    select h.last_at from archived_changes h where h.asset_id = %(id)s::uuid and h.tenant_id = %(tenant)s), '-infinity')
order by position desc
limit %(limit)s
