-- The tags that pass some other edge between the same two assets.
select f.key
from tags f
where f.tenant_id = %(tenant)s and f.propagates and exists (
  select from edges e
  where e.tenant_id = %(tenant)s and e.from_id = %(from)s::uuid and e.to_id = %(to)s::uuid and e.type <> %(type)s
    and passes(e, f))
