-- Those of a batch's assets that may lose a protective tag: they state one, or their parent differs from the one that
-- the batch gives them (empty: no parent; null: the batch states none).
select a.id::text, a.stated, a.parent
from unnest(%(ids)s::uuid[], %(parents)s::text[]) as asked (id, parent)
join assets a on a.tenant_id = %(tenant)s and a.id = asked.id
where a.stated <> '{}' and a.stated && %(tags)s::text[]
   or a.parent is not null and a.parent <> asked.parent
