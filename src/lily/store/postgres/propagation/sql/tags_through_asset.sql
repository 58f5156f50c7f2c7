-- The tags that other assets have through this one: along an edge, or down the hierarchy, where an influence does not go.
select t.tag
from unnest(%(tags)s::text[]) as t (tag)
where exists (
  select from derived_tags d where d.tenant_id = %(tenant)s and d.tag = t.tag and d.via = %(id)s::uuid)
union
select t.tag
from unnest(%(effective)s::text[]) as t (tag)
where exists (select from assets a where a.tenant_id = %(tenant)s and a.parent = %(id)s)
  and coalesce((
    select bool_or(d.kind <> 'influenced') from derived_tags d
    where d.tenant_id = %(tenant)s and d.tag = t.tag and d.asset_id = %(id)s::uuid), true)
