-- The staged rows that merge.sql left out, with the stored layer to merge each of them into. Locks those assets.
select s.tenant_id, s.id::text, s.entity_type, s.fields, s.at, s.clocks, s.first, s.last, s.causes,
       a.{values}, a.{at}, a.{clocks}
from staged s
join assets a on a.tenant_id = s.tenant_id and a.id = s.id
where s.layer = %(layer)s
  and not (a.{at} = s.at and a.{values} = s.fields and a.{clocks} is not distinct from s.clocks
           and a.created_at <= s.first and a.updated_at >= s.last)
order by s.tenant_id, s.id
for update of a
