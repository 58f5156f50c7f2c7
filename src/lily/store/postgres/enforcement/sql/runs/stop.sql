-- Unless someone has requested another run in the meantime.
update enforcement_targets t set is_stopped = true
where t.tenant_id = %(tenant)s and t.key = %(key)s
  and not exists (
    select from queued_jobs q
    where q.tenant_id = %(tenant)s and q.job_group = %(group)s and q.task = %(task)s and q.id <> %(job)s
      and not q.arguments ? 'plan')
