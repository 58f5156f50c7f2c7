-- The claims that a completion of these jobs has ended and that no run of the batch makes again, at least as openly, each
-- with the clock from which it counted.
select c.tenant_id, c.job_id::text, c.from_id::text, c.to_id::text, c.type, c.masking, greatest(c.at, r.completed_at)
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as closed (tenant_id, job_id)
join jobs j on j.tenant_id = closed.tenant_id and j.job_id = closed.job_id
join claims c on c.tenant_id = j.tenant_id and c.job_id = j.job_id
left join runs r on r.tenant_id = c.tenant_id and r.job_id = c.job_id and r.run = c.run
where greatest(c.at, r.completed_at) <= case when c.run = j.run then j.others_at else j.completed_at end
  and not c.aside
  and not exists (
    select from staged_claims s
    where s.tenant_id = c.tenant_id and s.job_id = c.job_id
      and s.from_id = c.from_id and s.to_id = c.to_id and s.type = c.type and not s.aside and (c.masking or not s.masking))
