-- Restores a claim that the newest complete run of its job dropped, as a claim of that run.
insert into claims (tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed)
select j.tenant_id, j.job_id, j.run, %(from_id)s, %(to_id)s, %(type)s, %(masking)s, j.completed_at, %(assumed)s
from jobs j
where j.tenant_id = %(tenant)s and j.job_id = %(job)s
on conflict do nothing
