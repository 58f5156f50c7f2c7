-- A confirmation that the job of 0003 no longer claims an edge.
insert into released_claims (tenant_id, job_id, from_id, to_id, type, at)
select tenant_id, job_id, from_id, to_id, type, '2026-01-06T00:00:00.000000Z/confirmed' from held_claims;
