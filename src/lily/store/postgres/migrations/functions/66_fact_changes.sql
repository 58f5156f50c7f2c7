-- Notes in `fact_changes` what a transaction changes of what decisions rest on, so that a process that keeps facts of assets
-- learns which of them to read again (82_decision_state.sql). Triggers, because a write that nobody noted would leave a
-- decision stale. A statement that changes more than `p_most` assets notes their tenants alone.
drop function if exists note_fact_changes(text[], uuid[]);
create or replace function note_fact_changes(p_tenants text[], p_ids uuid[], p_most integer) returns void
language sql volatile set search_path = pg_catalog, public, pg_temp as $$
  insert into fact_changes (tenant_id, xid, asset_id)
  select distinct c.tenant_id, pg_current_xact_id(), case when cardinality(p_tenants) <= p_most then c.id end
  from unnest(p_tenants, p_ids) as c (tenant_id, id)
$$;
revoke all on function note_fact_changes(text[], uuid[], integer) from public;

-- Of each table: which assets a row concerns, two at most, and how many rows are noted one by one. No update changes what identifies a row,
-- so the new rows have all of them. Propagation is no part of the path of a plain event, and reaches hundreds often.
do $$
declare
  noted text[];
begin
  foreach noted slice 1 in array array[
    ['assets', 'c.id', '100'],
    -- A column that only the lake has may be what a name means, by its table.
    ['graph_nodes', 'c.id, coalesce(c.parent, c.id)', '50'],
    ['held_parents', 'c.id', '100'],
    -- What is named below one of these is a column.
    ['lake_parents', 'c.id', '100'],
    ['edges', 'c.from_id, c.to_id', '50'],
    ['derived_tags', 'c.asset_id', '1000'],
    -- While propagation lags, the definition of a tag decides which assets it would reach.
    ['tags', 'null', '100']
  ] loop
    execute format($sql$
      create or replace function note_%1$s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $body$
      begin
        -- Of many rows the tenants are enough, and found without looking at their ids.
        if (select count(*) from changed) > %3$s then
          insert into fact_changes (tenant_id, xid, asset_id)
          select distinct c.tenant_id, pg_current_xact_id(), null::uuid from changed c;
        else
          perform note_fact_changes(array_agg(c.tenant_id), array_agg(n.id), 2 * %3$s)
          from changed c cross join unnest(array[%2$s]::uuid[]) as n (id);
        end if;
        return null;
      end
      $body$;
      create or replace trigger inserted_facts after insert on %1$I
      referencing new table as changed for each statement execute function note_%1$s();
      create or replace trigger updated_facts after update on %1$I
      referencing new table as changed for each statement execute function note_%1$s();
      create or replace trigger deleted_facts after delete on %1$I
      referencing old table as changed for each statement execute function note_%1$s();
    $sql$, noted[1], noted[2], noted[3]);
  end loop;
end
$$;

-- Of an asset, decisions see what its layers state and what is generated from that; whether it is deleted depends on clocks
-- as well. A crawler that states the same again changes nothing of it. The pipeline's sessions allow nested loops alone, for
-- which the two tables have no index.
create or replace function note_updated_assets() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
set enable_nestloop = off set enable_hashjoin = on as $$
begin
  perform note_fact_changes(array_agg(c.tenant_id), array_agg(c.id), 100)
  from changed c join previous p on p.tenant_id = c.tenant_id and p.id = c.id
  where (c.source, c.enriched, c."user", c.is_deleted, c.awaits_lake)
        is distinct from (p.source, p.enriched, p."user", p.is_deleted, p.awaits_lake);
  return null;
end
$$;
create or replace trigger updated_facts after update on assets
referencing new table as changed old table as previous for each statement execute function note_updated_assets();

-- What deleting an asset means decides which tags come from above it.
create or replace function note_tenants() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform note_fact_changes(array[new.id], array[null::uuid], 1);
  return null;
end
$$;
create or replace trigger updated_facts after update of on_delete on tenants
for each row execute function note_tenants();
