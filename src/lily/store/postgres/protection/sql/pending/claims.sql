-- Claims that are held, after a key. Of an unmasked and a masked one of the same job the unmasked counts.
select h.ended_at::text, h.job_id::text, h.from_id::text, h.to_id::text, h.type
from held_claims h
where h.tenant_id = %(tenant)s and h.ended_at >= %(at)s::timestamptz
  and (h.ended_at, h.job_id, h.from_id, h.to_id, h.type)
      > (%(at)s::timestamptz, %(after)s::uuid, %(second)s::uuid, %(third)s::uuid, %(text)s)
  and not (h.masking and exists (
    select from held_claims o
    where o.tenant_id = h.tenant_id and o.job_id = h.job_id and o.from_id = h.from_id and o.to_id = h.to_id
      and o.type = h.type and not o.masking))
order by h.ended_at, h.job_id, h.from_id, h.to_id, h.type
limit %(limit)s
