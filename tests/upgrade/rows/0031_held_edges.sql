-- A claim of the job of 0003 that a later run has dropped without authority.
insert into held_claims (tenant_id, job_id, from_id, to_id, type, masking, at, ended_by, ended_at)
select c.tenant_id, c.job_id, c.to_id, c.from_id, c.type, false, c.at, 'etl', '2026-01-05 00:00:00Z' from claims c;
