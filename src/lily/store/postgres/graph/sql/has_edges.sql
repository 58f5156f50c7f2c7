-- Whether an edge to or from an asset was ever stated.
select exists (select from edges e where e.tenant_id = %(tenant)s and e.from_id = %(id)s::uuid and e.version > 0)
    or exists (select from edges e where e.tenant_id = %(tenant)s and e.to_id = %(id)s::uuid and e.version > 0)
