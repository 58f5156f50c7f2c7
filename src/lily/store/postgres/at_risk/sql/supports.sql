-- The rows on which those of the given assets rest, these included: with `via`, then what is above it, nearest first. `union`
-- visits each row once.
with recursive supports (id, via) as (
  select r.asset_id, r.via from at_risk r
  where r.tenant_id = %(tenant)s and r.incident_id = %(incident)s::uuid and r.asset_id = any (%(ids)s::uuid[])
  union
  select r.asset_id, r.via
  from supports s
  cross join lateral asset_and_above(%(tenant)s, s.via) a
  cross join lateral (
    select r.asset_id, r.via from at_risk r
    where r.tenant_id = %(tenant)s and r.asset_id = a.id and r.incident_id = %(incident)s::uuid offset 0
  ) r
  where s.via is not null
)
select s.id::text, case when s.via is not null then array(
         select a.id::text from asset_and_above(%(tenant)s, s.via) a order by a.steps) end
from supports s
