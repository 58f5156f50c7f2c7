select s.source, max(s.updated_at) filter (where s.expires_at is null), max(s.expires_at)
from (
  select split_part(substr(name, length(%(prefix)s) + 1), '/', 1) as source, updated_at, expires_at
  from secrets
  where tenant_id = %(tenant)s and starts_with(name, %(prefix)s) and (expires_at is null or expires_at > now())
) s
group by s.source
order by s.source
