-- The edges that leave these assets: an asset's edges come together, in order, and an asset without any comes once, alone.
-- Each step looks edges up one asset at a time, so its cost does not depend on the catalogue.
with recursive reach (id) as (
  select unnest(%(ids)s::uuid[])
  {ahead}
)
select r.id::text, e.there::text, e.type, e.propagates, e.masking
from reach r
left join lateral (
  select e.{there} as there, e.type, e.propagates, e.masking
  from edges e
  where e.tenant_id = %(tenant)s and e.{here} = r.id and not e.is_deleted {living}
  order by e.{there}, e.type
) e on true
limit %(limit)s
