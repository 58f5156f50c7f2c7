-- The changes of one asset, newest first, below a position if one is given.
select position, tenant_id, asset_id::text, qualified_name, entity_type, layer, version, before, after, causes, committed_at
from changes
where tenant_id = %(tenant)s and asset_id = %(id)s::uuid and (%(below)s::bigint is null or position < %(below)s::bigint)
order by position desc
limit %(limit)s
