-- Deletes all but the newest runs of these jobs, and the claims of those that were set aside. Claims in force stay.
with oldest as materialized (
  select given.tenant_id, given.job_id, kept.updated_at, kept.run
  from unnest(%(tenants)s::text[], %(jobs)s::uuid[]) as given (tenant_id, job_id)
  cross join lateral (
    select r.updated_at, r.run from runs r
    where r.job_id = given.job_id and r.tenant_id = given.tenant_id
    order by r.updated_at desc, r.run desc
    offset %(keep)s - 1 limit 1
  ) kept
),
gone as (
  delete from runs r using oldest o
  where r.tenant_id = o.tenant_id and r.job_id = o.job_id and (r.updated_at, r.run) < (o.updated_at, o.run)
  returning r.tenant_id, r.job_id, r.run
)
delete from claims c using gone g
where c.tenant_id = g.tenant_id and c.job_id = g.job_id and c.run = g.run and c.aside
