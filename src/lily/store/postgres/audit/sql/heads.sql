-- The chains of all tenants, or of one. A tenant with entries but without an end is a chain as well.
select t.id, h.number, encode(h.hash, 'hex'), h.pruned_number, encode(h.pruned_hash, 'hex')
from tenants t left join audit_heads h on h.tenant_id = t.id
where (%(tenant)s::text is null or t.id = %(tenant)s)
  and (h.tenant_id is not null or exists (select from audit where tenant_id = t.id))
order by t.id
