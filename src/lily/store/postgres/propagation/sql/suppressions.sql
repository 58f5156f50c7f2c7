-- Where persons suppressed tags that propagate, and from where those came then.
select a.id::text, a.parent, f.key, f.max_depth, t.on_delete = 'cut',
       coalesce(a."user" -> ('$suppressed:' || f.key) -> 'origins', '[]')
from assets a
join tenants t on t.id = a.tenant_id
join tags f on f.tenant_id = a.tenant_id and f.key = any (a.suppressed) and f.propagates
where a.tenant_id = %(tenant)s and a.suppressed <> '{}'
order by a.id, f.key
limit %(limit)s
