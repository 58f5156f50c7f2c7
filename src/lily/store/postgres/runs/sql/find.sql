-- One run by its id, of whichever job; if several jobs have a run of that id, the newest.
select r.job_id::text, r.run, r.state, r.started_at, r.ended_at, r.updated_at, r.facets,
       array(select jsonb_object_keys(r.lineage -> 'inputs')), array(select jsonb_object_keys(r.lineage -> 'outputs'))
from runs r
where r.tenant_id = %(tenant)s and r.run = %(run)s
order by r.updated_at desc
limit 1
