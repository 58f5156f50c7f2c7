update claims set masking = false
where tenant_id = %(tenant)s and job_id = %(job)s and from_id = %(from_id)s and to_id = %(to_id)s and type = %(type)s
