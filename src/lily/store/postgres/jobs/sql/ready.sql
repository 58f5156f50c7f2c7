-- Groups whose first job can run now: tenants alternate, and of each tenant the group that has waited longest comes first.
-- And the seconds until another group is ready.
--
-- Each group takes one index lookup, however many jobs it has, so a destination that is down costs the same with a hundred
-- thousand queued jobs as with one.
with recursive heads as (
  (
    select tenant_id, job_group, task, greatest(run_at, retry_at) as due_at
    from queued_jobs
    order by tenant_id, job_group, run_at, id
    limit 1
  )
  union all
  select next.*
  from heads
  cross join lateral (
    select tenant_id, job_group, task, greatest(run_at, retry_at)
    from queued_jobs
    where (queued_jobs.tenant_id, queued_jobs.job_group) > (heads.tenant_id, heads.job_group)
    order by tenant_id, job_group, run_at, id
    limit 1
  ) as next
),
candidates as (
  select tenant_id, job_group, due_at, due_at <= clock_timestamp() as is_due
  from heads
  where task = any(%(tasks)s)
),
ready as (
  select tenant_id, job_group, due_at, row_number() over (partition by tenant_id order by due_at) as turn
  from candidates
  where is_due and not exists (
    select from unnest(%(busy_tenants)s::text[], %(busy_groups)s::text[]) as busy(tenant_id, job_group)
    where busy.tenant_id = candidates.tenant_id and busy.job_group = candidates.job_group
  )
),
later as (
  select extract(epoch from min(due_at) - clock_timestamp())::float8 as seconds from candidates where not is_due
)
select later.seconds, ready.tenant_id, ready.job_group
from later
left join ready on true
order by ready.turn, ready.due_at
limit %(limit)s
