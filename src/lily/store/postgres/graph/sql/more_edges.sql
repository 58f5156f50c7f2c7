-- The next edges of one asset, after a given one.
select %(id)s, e.{there}::text, e.type, e.propagates, e.masking, e.assumed
from edges e
where e.tenant_id = %(tenant)s and e.{here} = %(id)s::uuid and not e.is_deleted
  and (e.{there}, e.type) > (%(there)s::uuid, %(type)s) {skip_deleted}
order by e.{there}, e.type
limit %(limit)s
