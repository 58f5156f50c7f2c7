delete from queued_jobs where tenant_id = %(tenant)s and id = %(id)s
