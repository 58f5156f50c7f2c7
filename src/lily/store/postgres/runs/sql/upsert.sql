insert into runs as r (tenant_id, job_id, run, state, completed_at, lineage)
select * from unnest(
  %(tenants)s::text[], %(jobs)s::uuid[], %(runs)s::text[], %(states)s::text[], %(completed)s::text[], %(lineages)s::jsonb[])
on conflict (job_id, run, tenant_id) do update
set state = excluded.state, completed_at = excluded.completed_at, lineage = excluded.lineage
