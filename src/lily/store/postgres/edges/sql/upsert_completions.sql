insert into jobs (tenant_id, job_id, run, completed_at, others_at, authorised_at, claims_digest, claims_run)
select * from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(runs)s::text[], %(completed)s::text[], %(others)s::text[],
                     %(authorised)s::text[], %(digests)s::text[], %(claims_runs)s::text[])
on conflict (job_id, tenant_id) do update
set run = excluded.run, completed_at = excluded.completed_at, others_at = excluded.others_at,
    authorised_at = excluded.authorised_at, claims_digest = excluded.claims_digest, claims_run = excluded.claims_run
