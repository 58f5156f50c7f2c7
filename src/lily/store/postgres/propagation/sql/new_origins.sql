-- Origins that reached an asset after a person suppressed the tag there.
select tag, array_agg(origin::text order by since, origin)
from new_origins
where tenant_id = %(tenant)s and asset_id = %(id)s::uuid
group by tag
