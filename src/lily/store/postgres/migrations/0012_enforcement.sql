-- Enforcement: targets, what each was asked to enforce and has confirmed, and decisions that fail closed while
-- propagation lags.

-- Where `governance-events` ended when a batch had been published, over all partitions. Ends only grow, so this orders
-- batches by their publication, whatever the clock did.
create function governance_end(ends jsonb) returns bigint
language sql immutable parallel safe as $$
  select coalesce(sum(value::bigint), 0)::bigint from jsonb_each_text(ends -> 'governance-events')
$$;
create index batches_by_governance_end on batches (governance_end(ends)) where published_at is not null;

-- What a tenant's decisions look for before they trust its derived tags.
create index dead_letters_of_propagation on dead_letters (tenant_id)
  where topic = 'governance-events@propagation' and replayed_at is null;
create index graph_awaiting_lake_of_tenant on graph_nodes (tenant_id) where awaits_lake;

-- They get a parameter. `functions/70_reached_from_elsewhere.sql` and `80_decision_facts.sql` create them again.
drop function reached_from_elsewhere(text, text[], boolean, uuid[], uuid[]);
drop function if exists ids_by_name_in_any_case(text[]);
drop function if exists decision_facts(text, uuid[], uuid[], boolean, text[], text[], boolean);

-- What was committed that decisions rest on, by transaction: of which asset, or without one of any of the tenant's. Written
-- by triggers, read by `decision_state` (functions/82_decision_state.sql). Of the tenant '' is the newest transaction whose
-- rows housekeeping has deleted. Not UNLOGGED: a crash would empty it while readers go on.
create table fact_changes (
  tenant_id text not null,
  xid       xid8 not null,
  asset_id  uuid,
  at        timestamptz not null default clock_timestamp()
);
create index fact_changes_of_tenant on fact_changes (tenant_id, xid);
create index fact_changes_by_age on fact_changes using brin (at) with (autosummarize = on);

-- Targets --------------------------------------------------------------------------------------------------------------

-- A database or warehouse that Lily brings in line with its decisions. The configuration holds passwords: it is encrypted
-- (lily.store.postgres.access.secrets) and only the worker decrypts it. What the worker reports is beside what a person stated.
create table enforcement_targets (
  tenant_id    text not null references tenants,
  key          text collate "C" not null,  -- the name, folded
  name         text not null,
  type         text not null,              -- of the plug-in
  data_source  text not null,              -- of the engine mappings that apply to its names
  roles        jsonb not null default '{}',  -- {role of the target: {"user" | "group" | "role": name in Lily}}
  wrapped_key  bytea not null,
  sealed       bytea not null,
  is_removed   boolean not null default false,  -- to be reverted, then deleted
  is_stopped   boolean not null default false,  -- it refuses for good: it is not called until someone applies
  created_at   timestamptz not null default clock_timestamp(),
  tables       integer not null default 0,
  columns      integer not null default 0,
  findings     jsonb not null default '[]',  -- [{subject, description}]
  plan         jsonb,                      -- the last one that was requested: {request, planned_at, steps, findings, error}
  confirmed_at timestamptz,                -- end of the last run after which all of it was in line
  failed_at    timestamptz,
  failures     integer not null default 0, -- runs in a row that failed
  error        text,                       -- of the last run, if it failed
  primary key (tenant_id, key)
);

-- Every run that changed something, failed, or was the first after a while: from when a change counts as confirmed.
create table enforcement_runs (
  tenant_id   text not null,
  target      text collate "C" not null,
  began_at    timestamptz not null,        -- everything committed before is in it
  finished_at timestamptz not null,
  steps       integer not null,
  drifted     integer not null,            -- tables that were changed by hand
  error       text,
  primary key (tenant_id, target, began_at)
);

-- The tables of a target: what was decided for each when it was last in line, and what is wrong with it now.
create table enforcement_tables (
  tenant_id    text not null,
  target       text collate "C" not null,
  path         text[] not null,
  digest       bytea,                      -- of its decisions, once confirmed
  announced    bytea,                      -- of decisions that a target that cannot be read may have got, unconfirmed
  version      bigint not null default 0,  -- of what was announced
  confirmed_at timestamptz,
  error        text,
  drift_at     timestamptz,
  drift        jsonb,                      -- the last: {found, expected}
  primary key (tenant_id, target, path)
);

-- Whose changes concern a target: its tables, columns and everything above them, whether Lily knows them or not.
create table enforcement_assets (
  tenant_id text not null,
  target    text collate "C" not null,
  asset_id  uuid not null,
  primary key (asset_id, target, tenant_id)
);

-- The receipts: a tag of an asset that a target has to enforce, or no longer has to (`is_withdrawn`).
create table enforcement_receipts (
  tenant_id      text not null,
  target         text collate "C" not null,
  asset_id       uuid not null,
  tag            text collate "C" not null,
  qualified_name text not null,
  path           text[] not null,          -- of the table in the target
  is_withdrawn   boolean not null default false,
  requested_at   timestamptz not null,
  confirmed_at   timestamptz,
  primary key (tenant_id, target, asset_id, tag)
);
create index enforcement_receipts_of_asset on enforcement_receipts (asset_id);

-- The API sees the rows of its tenant, as far as it has privileges; the worker sees and writes all.
do $$
declare
  guarded text;
begin
  foreach guarded in array array['fact_changes', 'enforcement_targets', 'enforcement_runs', 'enforcement_tables',
                                 'enforcement_assets', 'enforcement_receipts'] loop
    execute format($sql$
      alter table %1$I enable row level security, force row level security;
      create policy one_tenant on %1$I to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
      create policy every_tenant on %1$I to lily_pipeline using (true) with check (true);
      create policy administration on %1$I to current_user using (true) with check (true);
      grant select, insert, update, delete on %1$I to lily_pipeline;
    $sql$, guarded);
  end loop;
end
$$;
grant select on enforcement_runs, enforcement_tables, enforcement_receipts to lily_api;
-- The API stores the encrypted configuration and cannot read it back.
grant select (tenant_id, key, name, type, data_source, roles, is_removed, is_stopped, created_at, tables, columns, findings, plan,
              confirmed_at, failed_at, failures, error),
      insert (tenant_id, key, name, type, data_source, roles, wrapped_key, sealed),
      update (is_removed, is_stopped) on enforcement_targets to lily_api;
-- The worker reports drift on `policy-events`.
grant select, insert on decisions to lily_pipeline;
