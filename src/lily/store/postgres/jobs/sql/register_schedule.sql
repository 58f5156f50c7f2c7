-- A new schedule is due at once. One whose interval has changed keeps its next time if that is earlier.
insert into job_schedules (tenant_id, name, task, arguments, every)
values (%(tenant)s, %(name)s, %(task)s, %(arguments)s, %(every)s)
on conflict (tenant_id, name) do update
set task = excluded.task, arguments = excluded.arguments, every = excluded.every,
    next_at = least(job_schedules.next_at, clock_timestamp() + excluded.every)
where (job_schedules.task, job_schedules.arguments, job_schedules.every)
      is distinct from (excluded.task, excluded.arguments, excluded.every)
