-- Ends the runs of `ending`. One that failed is part of an incident until a run succeeds, or until a person resolves it. A
-- request of a schedule that nobody configured, and that no scraper took, is none: such a tenant may have no scrapers.
batch as (
  insert into batches (topic) select null where exists (select from ending) returning id
),
outcome as (
  select e.*, batch.id as batch_id,
         case when e.state <> 'succeeded' and (e.state = 'failed' or e.started_at is not null or s.is_configured)
              then case when r.is_resolved then e.run_id::text else coalesce(s.failing, e.run_id::text) end end as failure
  from batch, ending e
  left join refresh_schedules s on s.tenant_id = e.tenant_id and s.data_source = e.data_source
  cross join lateral (
    select exists (
      select from incidents i
      where i.tenant_id = e.tenant_id and i.source = 'refresher' and i.series = e.data_source
        and i.external_id = s.failing and i.state = 'resolved'
    ) as is_resolved
  ) r
),
ended as (
  update refresh_runs r
  set state = o.state, finished_at = o.now, finished_batch = o.batch_id, error = o.error, counts = o.counts,
      failure = o.failure
  from outcome o
  where r.tenant_id = o.tenant_id and r.run_id = o.run_id
  returning r.tenant_id, r.run_id, r.data_source, r.state, r.failure
),
noted as (
  update refresh_schedules s
  set failing = case when ended.state <> 'succeeded' then coalesce(ended.failure, s.failing) end
  from ended
  where s.tenant_id = ended.tenant_id and s.data_source = ended.data_source
)
select run_id::text, pg_notify('lily_applied', '') from ended
