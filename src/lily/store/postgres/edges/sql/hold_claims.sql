-- Holds the claims that end with the batch, unless a newer completion of their job has authority or their end was confirmed
-- later, or the job has another
-- claim on the edge that is at least as open.
insert into held_claims as h (tenant_id, job_id, from_id, to_id, type, masking, at, ended_by, ended_at)
select e.tenant_id, e.job_id, e.from_id, e.to_id, e.type, e.masking, e.at, e.ended_by, e.ended_at
from ended_claims e
left join jobs j on j.tenant_id = e.tenant_id and j.job_id = e.job_id
left join released_claims r
  on r.tenant_id = e.tenant_id and r.job_id = e.job_id and r.from_id = e.from_id and r.to_id = e.to_id and r.type = e.type
where e.at >= greatest(coalesce(j.authorised_at, ''), coalesce(r.at, ''))
  and not exists (
    select from claims c
    where c.tenant_id = e.tenant_id and c.job_id = e.job_id and c.from_id = e.from_id and c.to_id = e.to_id
      and c.type = e.type and not c.aside and (e.masking or not c.masking))
on conflict (tenant_id, job_id, from_id, to_id, type, masking) do update
set at = excluded.at, ended_by = excluded.ended_by, ended_at = excluded.ended_at
where excluded.at > h.at
