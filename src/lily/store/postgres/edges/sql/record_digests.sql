-- Records the digest of a job's claims where the job has no others: those of another run, or of an earlier event.
update jobs j set claims_digest = given.digest
from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(runs)s::text[], %(completed)s::text[], %(digests)s::text[],
            %(counts)s::int[], %(assumed)s::int[])
  as given (tenant_id, job_id, run, completed_at, digest, claims, assumed)
cross join lateral (
  select count(*) as claims, count(*) filter (where c.assumed) as assumed,
         coalesce(bool_and(c.run = given.run and c.at = given.completed_at and not c.aside and not c.masking), true) as made
  from claims c
  where c.job_id = given.job_id and c.tenant_id = given.tenant_id
) stored
where j.job_id = given.job_id and j.tenant_id = given.tenant_id and j.run = given.run
  and stored.claims = given.claims and stored.assumed = given.assumed and stored.made
