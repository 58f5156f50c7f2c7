-- The tags that other assets have through these: along an edge, or down the hierarchy.
select asked.id::text, t.tag
from unnest(%(ids)s::uuid[]) as asked (id)
cross join unnest(%(tags)s::text[]) as t (tag)
where not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = asked.id and a.is_cut)
  and (exists (select from derived_tags d where d.tenant_id = %(tenant)s and d.tag = t.tag and d.via = asked.id)
   or exists (select from carried(%(tenant)s, t.tag, asked.id, false) c where c.content)
      and exists (select from assets c where c.tenant_id = %(tenant)s and c.parent = asked.id::text))
