-- The edges that leave these assets, and what lies behind them, breadth first: an asset's edges come together, in order,
-- and an asset without any comes once, alone. The walk goes on as far as rows are fetched; `behind` names assets that are
-- not to be entered again. Each step looks edges up one asset at a time, so its cost does not depend on the catalogue.
with recursive reach (id) as (
  select unnest(%(ids)s::uuid[])
  union
  select next.id
  from reach r
  cross join lateral (
    select e.{there} as id
    from edges e
    where e.tenant_id = %(tenant)s and e.{here} = r.id and not e.is_deleted and e.{there} <> all (%(behind)s::uuid[])
      {living}
    offset 0
  ) as next
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
