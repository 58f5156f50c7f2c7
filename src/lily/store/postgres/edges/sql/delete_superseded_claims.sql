-- A claim that has ended is deleted, or set aside while its run goes on: the completion of the run would revive it.
with superseded as materialized (
  select c.ctid as place, coalesce(r.state, 'COMPLETE') not in ('COMPLETE', 'FAIL', 'ABORT') as goes_on
  from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as closed (tenant_id, job_id)
  join jobs j on j.tenant_id = closed.tenant_id and j.job_id = closed.job_id
  join claims c on c.tenant_id = j.tenant_id and c.job_id = j.job_id
  left join runs r on r.tenant_id = c.tenant_id and r.job_id = c.job_id and r.run = c.run
  where greatest(c.at, r.completed_at) <= case when c.run = j.run then j.others_at else j.completed_at end
),
set_aside as (
  update claims set aside = true where ctid = any (array(select place from superseded where goes_on)) and not aside
)
delete from claims where ctid = any (array(select place from superseded where not goes_on))
