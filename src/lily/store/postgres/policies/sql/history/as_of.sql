-- The policies, roles and settings, and the given users, that were valid at a time; a row `history-from` if that time is
-- before the history that is kept.
select kind, key, body
from access_history
where tenant_id = %(tenant)s and kind in ('policy', 'role', 'access-settings')
  and valid_from <= %(at)s::timestamptz and (valid_to is null or valid_to > %(at)s::timestamptz)
union all
select kind, key, body
from access_history
where tenant_id = %(tenant)s and kind = 'user' and key = any (%(users)s::text[])
  and valid_from <= %(at)s::timestamptz and (valid_to is null or valid_to > %(at)s::timestamptz)
union all
select 'history-from', '', to_jsonb(to_char(history_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
from access_versions
where tenant_id = %(tenant)s and history_from > %(at)s::timestamptz
