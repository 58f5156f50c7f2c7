-- Delays the next attempt. The delay varies by a tenth, so that groups that failed together do not retry together.
update queued_jobs
set attempts = attempts + 1, starts = 0, reason = %(reason)s,
    retry_at = clock_timestamp() + make_interval(secs => %(seconds)s * (0.9 + 0.2 * random()))
where tenant_id = %(tenant)s and id = %(id)s
