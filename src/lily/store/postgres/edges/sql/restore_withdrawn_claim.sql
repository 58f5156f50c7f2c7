-- Restores a claim that a run made and withdrew.
insert into claims (tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed)
values (%(tenant)s, %(job)s, %(run)s, %(from_id)s, %(to_id)s, %(type)s, false, %(at)s, true)
on conflict do nothing
