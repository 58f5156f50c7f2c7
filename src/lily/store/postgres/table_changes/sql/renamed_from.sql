-- The name that a table had before, and when it was renamed, as its source states it.
select a.source ->> 'renamed_from', split_part(coalesce(a.source_clocks ->> 'renamed_from', a.source_at), '/', 1)
from assets a
where a.tenant_id = %(tenant)s and a.id = %(id)s and jsonb_typeof(a.source -> 'renamed_from') = 'string'
