-- At most two runs of a target that could begin now: one may be running, with what was committed before it began.
insert into queued_jobs (tenant_id, job_group, task, arguments)
select t.tenant_id, 'enforcement/' || t.key, %(task)s, jsonb_build_object('target', t.key)
from enforcement_targets t
where t.tenant_id = %(tenant)s
  and (%(ids)s::uuid[] is null or exists (
    select from unnest(%(ids)s::uuid[]) as i (id)
    join enforcement_assets a on a.asset_id = i.id and a.target = t.key and a.tenant_id = t.tenant_id))
  and (select count(*) from queued_jobs q
       where q.tenant_id = t.tenant_id and q.job_group = 'enforcement/' || t.key and q.task = %(task)s
         and not q.arguments ? 'plan' and q.run_at <= clock_timestamp()) < 2
returning id, pg_notify('lily_jobs', '')
