-- What the last analyzed query of a job made.
select made from run_queries where tenant_id = %(tenant)s and job_id = %(job)s
