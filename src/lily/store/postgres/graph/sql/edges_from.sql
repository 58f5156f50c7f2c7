-- The edges of these assets, sorted and grouped by asset. An asset without edges has one row, with nulls. Edges are looked
-- up one asset at a time, so the cost does not depend on the size of the catalogue.
with recursive reach (id) as (
  select unnest(%(ids)s::uuid[])
  {prefetch}
)
select r.id::text, e.there::text, e.type, e.propagates, e.masking, e.assumed
from reach r
left join lateral (
  select e.{there} as there, e.type, e.propagates, e.masking, e.assumed
  from edges e
  where e.tenant_id = %(tenant)s and e.{here} = r.id and not e.is_deleted {skip_deleted}
  order by e.{there}, e.type
) e on true
limit %(limit)s
