select r.tenant_id, r.job_id::text, r.run, r.lineage, r.facets
from unnest(%(tenants)s::text[], %(jobs)s::uuid[], %(runs)s::text[]) as given (tenant_id, job_id, run)
cross join lateral (
  select * from runs r where r.job_id = given.job_id and r.run = given.run and r.tenant_id = given.tenant_id offset 0
) r
