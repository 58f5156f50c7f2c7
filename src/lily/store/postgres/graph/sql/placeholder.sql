-- The name of an asset that only edges have named, while an edge leads to or from it. One that is held counts: it conducts.
select n.qualified_name, n.named_at
from named_ends n
where n.tenant_id = %(tenant)s and n.id = %(id)s::uuid
  and (exists (select from edges e where e.tenant_id = %(tenant)s and e.from_id = n.id and (not e.is_deleted or e.conduction > 0))
       or exists (select from edges e where e.tenant_id = %(tenant)s and e.to_id = n.id and (not e.is_deleted or e.conduction > 0)))
