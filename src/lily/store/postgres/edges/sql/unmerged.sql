-- The staged rows that merge.sql left out, with the stored layer to merge each of them into. Locks those edges.
select s.tenant_id, s.from_id::text, s.to_id::text, s.type, s.fields, s.at, s.clocks, s.first, s.last, s.causes,
       e.{values}, e.{at}, e.{clocks}
from staged_edges s
join edges e on e.tenant_id = s.tenant_id and e.from_id = s.from_id and e.to_id = s.to_id and e.type = s.type
where s.layer = %(layer)s
  and not (e.{at} = s.at and e.{values} = s.fields and e.{clocks} is not distinct from s.clocks
           and e.created_at <= s.first and e.updated_at >= s.last)
order by s.tenant_id, s.from_id, s.to_id, s.type
for no key update of e
