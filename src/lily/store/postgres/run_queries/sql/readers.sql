-- The events of other jobs whose queries read one of the changed tables.
select event from run_queries
where tenant_id = %(tenant)s and job_id <> %(job)s and reads && %(changed)s::text[]
order by at
