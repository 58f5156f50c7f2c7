-- From when on the history of derived tags is complete; no row if it always was.
select to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
from derived_tag_history_starts
where tenant_id = %(tenant)s
