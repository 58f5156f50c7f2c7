delete from claims c
using unnest(%(tenants)s::text[], %(ids)s::uuid[]) as closed (tenant_id, job_id), jobs j
where j.tenant_id = closed.tenant_id and j.job_id = closed.job_id
  and c.tenant_id = j.tenant_id and c.job_id = j.job_id
  and c.at <= case when c.run = j.run then j.others_at else j.completed_at end
