-- The runs of a job, newest first, after a position.
select r.job_id::text, r.run, r.state, r.started_at, r.ended_at, r.updated_at,
       jsonb_build_object(
         'run:nominalTime', r.facets -> 'run:nominalTime', 'run:parent', r.facets -> 'run:parent',
         'run:errorMessage', r.facets -> 'run:errorMessage')
from runs r
where r.tenant_id = %(tenant)s and r.job_id = %(job)s
  and (%(updated)s::timestamptz is null or (r.updated_at, r.run) < (%(updated)s::timestamptz, %(run)s))
order by r.updated_at desc, r.run desc
limit %(limit)s
