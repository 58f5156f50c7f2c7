-- Suppressions of tags that propagate, each with the origins known when it was made.
select a.id::text, a.parent, f.key, f.max_depth, t.on_delete = 'cut',
       coalesce(a."user" -> ('$suppressed:' || f.key) -> 'origins', '[]')
from assets a
join tenants t on t.id = a.tenant_id
join tags f on f.tenant_id = a.tenant_id and f.key = any (a.suppressed) and f.propagates
where a.tenant_id = %(tenant)s and a.suppressed <> '{}'
order by a.id, f.key
limit %(limit)s
