-- Brings the claims of runs that have completed back, which a completion of another run had set aside. Those of runs that
-- failed are deleted.
with given as materialized (
  select r.tenant_id, r.job_id, r.run, r.state = 'COMPLETE' as complete
  from unnest(%(tenants)s::text[], %(jobs)s::uuid[], %(runs)s::text[]) as given (tenant_id, job_id, run)
  join runs r on r.tenant_id = given.tenant_id and r.job_id = given.job_id and r.run = given.run
  where r.state in ('COMPLETE', 'FAIL', 'ABORT')
),
dropped as (
  delete from claims c using given g
  where c.tenant_id = g.tenant_id and c.job_id = g.job_id and c.run = g.run and c.aside and not g.complete
)
update claims c set aside = false
from given g
where c.tenant_id = g.tenant_id and c.job_id = g.job_id and c.run = g.run and c.aside and g.complete
returning c.tenant_id, c.job_id::text, c.run, c.from_id::text, c.to_id::text, c.type
