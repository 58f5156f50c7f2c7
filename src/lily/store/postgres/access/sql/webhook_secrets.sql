-- The secrets of a source that are valid now.
select name, wrapped_key, sealed, extract(epoch from expires_at)::double precision
from secrets
where tenant_id = %(tenant)s and starts_with(name, %(prefix)s) and (expires_at is null or expires_at > now())
order by expires_at desc nulls first
