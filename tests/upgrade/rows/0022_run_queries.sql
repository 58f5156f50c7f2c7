-- The query of a job that makes a table from another.
insert into run_queries (tenant_id, job_id, at, event, reads, made)
select id, gen_random_uuid(), '2026-02-01T00:00:00.000000Z/run', '{}', array['shop.customers'],
       '{"shop.newsletter": ["email"]}'
from tenants;
