-- A job that waits behind one that has failed, and what recurs.
insert into queued_jobs (tenant_id, job_group, task, attempts, retry_at, reason)
select id, 'crm', 'deliver', 2, now() + interval '1 minute', 'no answer' from tenants;
insert into queued_jobs (tenant_id, job_group, task, arguments) select id, 'crm', 'deliver', '{"n": 2}' from tenants;
insert into job_schedules (tenant_id, name, task, every) select id, 'refresh', 'refresh', '1 day' from tenants;
