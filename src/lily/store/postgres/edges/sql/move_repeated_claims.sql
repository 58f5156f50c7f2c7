-- Stores claims that a later run has taken over as claims of that run, before something else happens to them.
update claims c
set run = j.run, at = j.completed_at
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as given (tenant_id, job_id)
join jobs j on j.tenant_id = given.tenant_id and j.job_id = given.job_id
where c.tenant_id = j.tenant_id and c.job_id = j.job_id and c.run = j.claims_run
