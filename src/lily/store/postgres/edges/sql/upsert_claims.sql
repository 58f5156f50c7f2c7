insert into claims as c (tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed, aside)
select tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed, aside
from staged_claims
on conflict (tenant_id, job_id, run, from_id, to_id, type) do update
set masking = excluded.masking, at = excluded.at, assumed = excluded.assumed, aside = excluded.aside
where (not excluded.assumed, excluded.at) > (not c.assumed, c.at)
