-- How far the changes of one write travelled. Changes that begin at one asset and were looked at together share what they
-- reached.
select coalesce(sum(reached), 0)::integer, coalesce(max(depth), 0), max(finished_at), min(started_at)
from (
  select max(reached) as reached, max(depth) as depth, max(finished_at) as finished_at, started_at
  from propagations
  where tenant_id = %(tenant)s and correlation = %(correlation)s
  group by root, started_at
) as run
