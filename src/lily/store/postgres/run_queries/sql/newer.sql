-- A row if a query of a newer event of the job has been analyzed.
select 1 from run_queries where tenant_id = %(tenant)s and job_id = %(job)s and at > %(at)s
