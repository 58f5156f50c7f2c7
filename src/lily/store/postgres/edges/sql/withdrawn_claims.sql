-- Deletes what was assumed of these runs and is no longer, now that more of their events are known.
with given as materialized (
  select * from unnest(%(tenants)s::text[], %(jobs)s::uuid[], %(runs)s::text[]) as given (tenant_id, job_id, run)
),
gone as (
  delete from claims c using given g
  where c.tenant_id = g.tenant_id and c.job_id = g.job_id and c.run = g.run and c.assumed
    and not exists (
      select from staged_claims s
      where s.tenant_id = c.tenant_id and s.job_id = c.job_id and s.run = c.run
        and s.from_id = c.from_id and s.to_id = c.to_id and s.type = c.type)
  returning c.*
)
select c.tenant_id, c.job_id::text, c.run, c.from_id::text, c.to_id::text, c.type, c.masking, greatest(c.at, r.completed_at)
from gone c
left join runs r on r.tenant_id = c.tenant_id and r.job_id = c.job_id and r.run = c.run
where not c.aside
