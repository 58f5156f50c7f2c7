-- Of the assets that a batch speaks about, those that may lose something: who state a protective tag, and who have
-- another parent than they are given (empty: none any more; null: nothing was said).
select a.id::text, a.stated, a.parent
from unnest(%(ids)s::uuid[], %(parents)s::text[]) as asked (id, parent)
join assets a on a.tenant_id = %(tenant)s and a.id = asked.id
where a.stated <> '{}' and a.stated && %(tags)s::text[]
   or a.parent is not null and a.parent <> asked.parent
