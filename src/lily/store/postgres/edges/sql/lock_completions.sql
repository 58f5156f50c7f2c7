-- Reads and locks the completions of these jobs.
select j.tenant_id, j.job_id::text, j.run, j.completed_at, j.others_at, j.authorised_at, j.claims_digest, j.claims_run
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as asked (tenant_id, job_id)
join jobs j on j.tenant_id = asked.tenant_id and j.job_id = asked.job_id
for update of j
