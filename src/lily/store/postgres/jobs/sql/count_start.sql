-- Counts the start of a job, without waiting for the disk: a crash of PostgreSQL may lose the count.
update queued_jobs set starts = starts + 1
where tenant_id = %(tenant)s and id = %(id)s
returning set_config('synchronous_commit', 'off', true)
