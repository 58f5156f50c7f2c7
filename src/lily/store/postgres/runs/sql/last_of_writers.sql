-- The jobs that have named a dataset as an output, each with its last run, whatever that wrote.
select o.job_id::text, a.qualified_name, last.run, last.state, last.started_at, last.ended_at, last.error
from job_outputs o
join assets a on a.tenant_id = %(tenant)s and a.id = o.job_id and a.entity_type = 'job'
left join lateral (
  select r.run, r.state, r.started_at, r.ended_at,
         case when r.state in ('FAIL', 'ABORT') then r.facets #>> '{run:errorMessage,1,message}' end as error
  from runs r
  where r.job_id = o.job_id and r.tenant_id = %(tenant)s
  order by r.updated_at desc, r.run desc
  limit 1
) last on true
where o.dataset_id = %(id)s and o.tenant_id = %(tenant)s
order by a.qualified_name
limit %(limit)s
