-- A completion with authority ends all older claims of its job for good.
delete from held_claims h
using unnest(%(tenants)s::text[], %(ids)s::uuid[]) as closed (tenant_id, job_id)
join jobs j on j.tenant_id = closed.tenant_id and j.job_id = closed.job_id
where h.tenant_id = j.tenant_id and h.job_id = j.job_id and h.at < j.authorised_at
returning h.tenant_id, h.job_id::text, h.from_id::text, h.to_id::text, h.type
