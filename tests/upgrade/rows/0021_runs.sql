-- The job of 0003 only named inputs and outputs.
update claims set assumed = true;
update edges set claims_assume = true where claimed;
insert into dataset_schemas (tenant_id, dataset_id, scope, at, digest, columns)
select tenant_id, id, 'spark', '2026-01-06T00:00:00.000000Z/run', '0', '{"shop.customers.email": "email"}'
from known where name = 'shop.customers';
insert into runs (tenant_id, job_id, run, state, completed_at, started_at, updated_at, lineage)
select tenant_id, job_id, run, 'COMPLETE', completed_at, '2026-01-04 00:00:00Z', '2026-01-04 00:00:00Z', jsonb_build_object('states', jsonb_build_object('COMPLETE', completed_at))
from jobs;
