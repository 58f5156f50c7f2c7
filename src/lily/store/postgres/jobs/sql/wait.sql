-- Delays a job that has not failed.
update queued_jobs
set starts = 0, reason = %(reason)s, retry_at = clock_timestamp() + make_interval(secs => %(seconds)s)
where tenant_id = %(tenant)s and id = %(id)s
