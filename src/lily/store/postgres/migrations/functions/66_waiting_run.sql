-- Since when a run of one of the tenant's targets waits for a worker, or is running; null if there is none. With the
-- owner's rights, because the API cannot read the queue.
create or replace function waiting_run_since(p_group text) returns timestamptz
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select min(q.enqueued_at)
  from queued_jobs q
  where q.tenant_id = tenant() and q.job_group = p_group and not q.arguments ? 'plan' and q.run_at <= clock_timestamp()
$$;

revoke all on function waiting_run_since(text) from public;
grant execute on function waiting_run_since(text) to lily_api;
