-- Of tags that a layer no longer shows, the newest change that left each out, as far as the history goes. One that arrived later
-- than what ended it, or with it, was never shown: then it is the newest change of the layer's tags.
select distinct on (c.layer, t.tag) c.layer, t.tag, newest_cause(c.causes)
from unnest(%(layers)s::text[], %(tags)s::text[]) as t (layer, tag)
join changes c on c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid and c.layer = t.layer
where not coalesce(c.after -> 'tags' ? t.tag, false) and c.before -> 'tags' is distinct from c.after -> 'tags'
order by c.layer, t.tag, coalesce(c.before -> 'tags' ? t.tag, false) desc, c.position desc
