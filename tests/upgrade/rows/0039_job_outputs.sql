-- A job that writes a dataset without reading any.
insert into job_outputs (tenant_id, dataset_id, job_id)
select id, '00000000-0000-8000-8000-000000000001', '00000000-0000-8000-8000-000000000002' from tenants;
