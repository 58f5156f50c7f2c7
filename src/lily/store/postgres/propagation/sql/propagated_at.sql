-- The tags that had reached assets along edges at a time, and those of them that its descendants inherit.
select d.asset_id::text, array_agg(distinct d.tag), array_agg(distinct d.tag) filter (where d.kind = 'propagated')
from derived_tags_at(%(tenant)s, %(ids)s::uuid[], %(at)s::timestamptz) d
where d.kind <> 'inherited'
group by d.asset_id
