insert into job_outputs (tenant_id, dataset_id, job_id)
select * from unnest(%(tenants)s::text[], %(datasets)s::uuid[], %(jobs)s::uuid[])
on conflict (dataset_id, job_id, tenant_id) do nothing
