-- The runs of an id, of whichever jobs: that of the job which had the id first comes first.
select r.job_id::text, r.run, r.state, r.started_at, r.ended_at, r.updated_at, r.facets,
       array(select jsonb_object_keys(r.lineage -> 'inputs')), array(select jsonb_object_keys(r.lineage -> 'outputs'))
from runs r
where r.tenant_id = %(tenant)s and r.run = %(run)s and (%(job)s::uuid is null or r.job_id = %(job)s::uuid)
order by r.recorded_at, r.started_at, r.job_id
limit %(limit)s
