select a.id::text, a.source, a.source_at, a.source_clocks, a.enriched, a.enriched_at, a.enriched_clocks,
       a."user", a.user_at, a.user_clocks
from assets a
where a.tenant_id = %(tenant)s and a.id = any (%(ids)s::uuid[])
