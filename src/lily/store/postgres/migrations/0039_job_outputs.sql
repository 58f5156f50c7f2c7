-- Which jobs write a dataset, also those of which no edge says so: they read nothing, or have only failed. An index of the runs for
-- that cost every event of a run 90 µs; here the second run of a job writes nothing.
create table job_outputs (
  tenant_id  text not null,
  dataset_id uuid not null,
  job_id     uuid not null,
  primary key (dataset_id, job_id, tenant_id)
);
select separate_tenants('job_outputs');
grant select on job_outputs to lily_api;
grant select, insert, delete on job_outputs to lily_pipeline;

insert into job_outputs (tenant_id, dataset_id, job_id)
select distinct r.tenant_id, output::uuid, r.job_id from runs r, jsonb_object_keys(r.lineage -> 'outputs') as output;
