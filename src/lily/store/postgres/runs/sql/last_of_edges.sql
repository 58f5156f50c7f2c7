-- The jobs that claim these edges, each with its last run. An edge has few claims, so they are looked up one by one.
select given.n, job.job_id::text, a.qualified_name, last.run, last.state, last.started_at, last.ended_at, last.error
from unnest(%(numbers)s::int[], %(froms)s::uuid[], %(tos)s::uuid[], %(types)s::text[]) as given (n, from_id, to_id, type)
cross join lateral (
  select distinct c.job_id from claims c
  where c.from_id = given.from_id and c.to_id = given.to_id and c.type = given.type and c.tenant_id = %(tenant)s
    and not c.aside
) job
join assets a on a.tenant_id = %(tenant)s and a.id = job.job_id and a.entity_type = 'job'
left join lateral (
  select r.run, r.state, r.started_at, r.ended_at,
         case when r.state in ('FAIL', 'ABORT') then r.facets #>> '{run:errorMessage,1,message}' end as error
  from runs r
  where r.job_id = job.job_id and r.tenant_id = %(tenant)s
  order by r.updated_at desc, r.run desc
  limit 1
) last on true
order by given.n, a.qualified_name
