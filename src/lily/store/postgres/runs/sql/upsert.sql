insert into runs as r (tenant_id, job_id, run, state, completed_at, started_at, ended_at, updated_at, lineage, facets)
select * from rows from (
  -- One document for all rows: an array of documents would have to be escaped a second time.
  unnest(%(tenants)s::text[], %(jobs)s::uuid[], %(runs)s::text[], %(states)s::text[], %(completed)s::text[],
         %(started)s::timestamptz[], %(ended)s::timestamptz[], %(updated)s::timestamptz[]),
  jsonb_array_elements(%(lineages)s::jsonb), jsonb_array_elements(%(facets)s::jsonb))
on conflict (job_id, run, tenant_id) do update
set state = excluded.state, completed_at = excluded.completed_at, started_at = excluded.started_at,
    ended_at = excluded.ended_at, updated_at = excluded.updated_at, lineage = excluded.lineage, facets = excluded.facets
