select extract(epoch from min(next_at) - clock_timestamp())::float8 from job_schedules
