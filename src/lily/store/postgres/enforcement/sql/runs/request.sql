-- At most two runs of a target that could begin now: one may be running, with what was committed before it began. An asset
-- that is new to a target concerns it by its parent, as a column that is in PostgreSQL from its first tag on, or by its
-- data source.
with concerned as materialized (
  select i.id, a.parent as parent, a.data_source
  from unnest(%(ids)s::uuid[]) as i (id)
  left join assets a on a.tenant_id = %(tenant)s and a.id = i.id
),
known as materialized (
  select id from concerned
  union
  select parent::uuid from concerned where parent is not null
  union
  select g.parent from concerned c join graph_nodes g on g.tenant_id = %(tenant)s and g.id = c.id
  where g.parent is not null
)
insert into queued_jobs (tenant_id, job_group, task, arguments)
select t.tenant_id, 'enforcement/' || t.key, %(task)s, jsonb_build_object('target', t.key)
from enforcement_targets t
where t.tenant_id = %(tenant)s
  and (%(ids)s::uuid[] is null or exists (
    select from known k
    join enforcement_assets a on a.asset_id = k.id and a.target = t.key and a.tenant_id = t.tenant_id)
    or exists (select from concerned c where lower(c.data_source) = lower(t.data_source)))
  and (select count(*) from queued_jobs q
       where q.tenant_id = t.tenant_id and q.job_group = 'enforcement/' || t.key and q.task = %(task)s
         and not q.arguments ? 'plan' and q.run_at <= clock_timestamp()) < 2
returning id, pg_notify('lily_jobs', '')
