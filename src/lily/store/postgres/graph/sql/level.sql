-- The edges of these assets, sorted. The planner sees an array of unknown length, so it uses the index, and one scan finds the
-- edges of all of them: half the cost of a look-up per asset.
select e.{here}::text, e.{there}::text, e.type, e.propagates, e.masking, e.assumed
from edges e
where e.tenant_id = %(tenant)s and e.{here} = any ((select %(ids)s::uuid[])::uuid[]) and not e.is_deleted {skip_deleted}
order by e.{here}, e.{there}, e.type
limit %(limit)s
