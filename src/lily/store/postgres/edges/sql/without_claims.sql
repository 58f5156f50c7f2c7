-- Those of the given jobs that have no claims.
select given.tenant_id, given.job_id::text
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as given (tenant_id, job_id)
where not exists (select from claims c where c.job_id = given.job_id and c.tenant_id = given.tenant_id offset 0)
