-- The tenant's version and its roles, of one moment: for the check that roles do not inherit in a circle.
select v.version, r.key, r.body
from access_versions v left join roles r on r.tenant_id = v.tenant_id
where v.tenant_id = %(tenant)s
