-- Of tags that a layer no longer shows, the newest change that left each out, as far as the history goes.
select distinct on (c.layer, t.tag) c.layer, t.tag, c.causes
from unnest(%(layers)s::text[], %(tags)s::text[]) as t (layer, tag)
join changes c on c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid and c.layer = t.layer
where c.before -> 'tags' ? t.tag and not coalesce(c.after -> 'tags' ? t.tag, false)
order by c.layer, t.tag, c.position desc
