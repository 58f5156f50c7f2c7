-- Whether what a process has read for decisions is what it would read now: which assets were changed since a snapshot, and
-- whether propagation lags (64_propagation_lags.sql).
--
-- `p_since` and `p_server` are what an earlier call returned as `snapshot` and `server`; whatever was read after that call.
-- `changed` is null if anything may have changed, else the ids that transactions noted which are visible now and were not
-- then, in whatever order they committed; `names` has the names that these assets have. With the rights of the owner,
-- because nobody else needs to read what is noted.
create or replace function decision_state(p_since pg_snapshot, p_server text)
returns table (snapshot text, server text, lags boolean, changed text[], names text[])
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  snapshot := pg_current_snapshot();
  -- After a crash of one of its processes the server goes on without a new start, and gives numbers of transactions that
  -- wrote nothing lasting to others. Then it counts its statistics anew.
  server := concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time());
  lags := propagation_lags(tenant());
  if snapshot = p_since::text and server = p_server then
    changed := '{}';
  elsif server = p_server and not exists (
    select from fact_changes f where f.tenant_id = '' and f.xid >= pg_snapshot_xmin(p_since)
  ) then
    select case when not coalesce(bool_or(c.asset_id is null), false) and count(*) <= 500
                then coalesce(array_agg(c.asset_id::text), '{}') end
      into changed
    from (
      select distinct f.asset_id from fact_changes f
      where f.tenant_id = tenant() and f.xid >= pg_snapshot_xmin(p_since) and not pg_visible_in_snapshot(f.xid, p_since)
      limit 501
    ) c;
  end if;
  if changed <> '{}' then
    names := array(
      select a.qualified_name from assets a where a.tenant_id = tenant() and a.id = any (changed::uuid[])
      union all
      select g.qualified_name from graph_nodes g
      where g.tenant_id = tenant() and g.id = any (changed::uuid[]) and g.qualified_name is not null);
  end if;
  return next;
end
$$;

revoke all on function decision_state(pg_snapshot, text) from public;
grant execute on function decision_state(pg_snapshot, text) to lily_api;
