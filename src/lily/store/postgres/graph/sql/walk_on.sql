-- The rest of the edges of one asset, from one of them on.
select %(id)s, e.{there}::text, e.type, e.propagates, e.masking
from edges e
where e.tenant_id = %(tenant)s and e.{here} = %(id)s::uuid and not e.is_deleted
  and (e.{there}, e.type) > (%(there)s::uuid, %(type)s) {living}
order by e.{there}, e.type
limit %(limit)s
