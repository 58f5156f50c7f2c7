insert into jobs (tenant_id, job_id, run, completed_at, others_at)
values (%(tenant)s, %(job)s, %(run)s, %(completed_at)s, %(others_at)s)
on conflict (tenant_id, job_id) do update
set run = excluded.run, completed_at = excluded.completed_at, others_at = excluded.others_at
