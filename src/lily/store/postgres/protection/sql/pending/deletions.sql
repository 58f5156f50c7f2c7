-- Deleted assets that still pass tags on, after a key.
select a.id::text
from assets a
where a.tenant_id = %(tenant)s and a.is_deleted and not a.is_cut and a.id > %(after)s::uuid
order by a.id
limit %(limit)s
