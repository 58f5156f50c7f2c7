-- The policies of a tenant, as the judgement needs them.
select key, body, asset_id::text, updated_at, judged_at is null
from quality_policies
where tenant_id = %(tenant)s
order by key
