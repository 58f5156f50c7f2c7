-- What the changes of one write reached. Changes of the same asset in the same run share one result, so it counts once.
select coalesce(sum(reached), 0)::integer, coalesce(max(depth), 0), max(finished_at), min(started_at)
from (
  select max(reached) as reached, max(depth) as depth, max(finished_at) as finished_at, started_at
  from propagations
  where tenant_id = %(tenant)s and correlation = %(correlation)s
  group by root, started_at
) as run
