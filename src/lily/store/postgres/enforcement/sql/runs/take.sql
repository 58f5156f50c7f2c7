-- Removes the other queued runs of a target. What they were queued for is committed, so this run sees it. Plans stay.
with mine as (
  select id from queued_jobs where tenant_id = %(tenant)s and id = %(job)s
),
others as (
  delete from queued_jobs q using mine
  where q.tenant_id = %(tenant)s and q.job_group = %(group)s and q.task = %(task)s and q.id <> mine.id
    and not q.arguments ? 'plan'
)
select clock_timestamp() from mine
