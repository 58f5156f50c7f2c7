-- The queries of an asset on each day, oldest first; 0 where none was reported.
select to_char(d.day, 'YYYY-MM-DD'), coalesce(u.queries, 0)
from generate_series(%(first)s::date, %(last)s::date, interval '1 day') as d (day)
left join usage_days u on u.asset_id = %(asset)s and u.day = d.day::date and u.tenant_id = %(tenant)s
order by d.day
