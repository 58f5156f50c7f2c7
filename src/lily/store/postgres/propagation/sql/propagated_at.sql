-- The tags that had reached assets along edges at a time.
select d.asset_id::text, array_agg(d.tag)
from derived_tags_at(%(tenant)s, %(ids)s::uuid[], %(at)s::timestamptz) d
where d.kind = 'propagated'
group by d.asset_id
