-- Edges that conduct more than they show, after a key.
select e.updated_at::text, e.from_id::text, e.to_id::text, e.type
from edges e
where e.tenant_id = %(tenant)s and e.updated_at >= %(at)s::timestamptz
  and (e.conduction > 0 and (e.is_deleted or not e.propagates) or e.conduction = 2 and e.masking)
  and (e.updated_at, e.from_id, e.to_id, e.type) > (%(at)s::timestamptz, %(after)s::uuid, %(second)s::uuid, %(text)s)
order by e.updated_at, e.from_id, e.to_id, e.type
limit %(limit)s
