-- The group's next jobs, in order, and whether each can run now.
select id, tenant_id, job_group, task, arguments, attempts, starts, enqueued_at,
       greatest(run_at, retry_at) <= clock_timestamp() as is_due
from queued_jobs
where tenant_id = %(tenant)s and job_group = %(group)s
order by run_at, id
limit %(limit)s
