-- Records the analyzed query of a job.
insert into run_queries (tenant_id, job_id, at, event, reads, made)
values (%(tenant)s, %(job)s, %(at)s, %(event)s, %(reads)s, %(made)s)
on conflict (job_id, tenant_id) do update
set at = excluded.at, event = excluded.event, reads = excluded.reads, made = excluded.made
