-- Counts that a job was started. A crash of the server may lose the count, so nothing waits for the disk.
update queued_jobs set starts = starts + 1
where tenant_id = %(tenant)s and id = %(id)s
returning set_config('synchronous_commit', 'off', true)
