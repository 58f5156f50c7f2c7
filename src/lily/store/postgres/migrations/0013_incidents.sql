-- Incidents: issues of data that other systems, the quality rules or people report, the assets they concern, and what is
-- at risk because of them.

-- One row per issue. Its fields are merged from messages without a reliable order, so `fields` keeps for each the rank of
-- who stated it (lily.incidents); the columns show the result.
create table incidents (
  tenant_id       text not null references tenants,
  incident_id     uuid not null,                       -- derived from tenant, source and external id
  source          text collate "C" not null,           -- monte-carlo, openlineage, quality, the name of a webhook
  external_id     text collate "C" not null,
  state           text not null check (state in ('open', 'acknowledged', 'resolved')),
  severity        text not null check (severity in ('info', 'warning', 'critical')),
  title           text not null default '',
  description     text not null default '',
  url             text not null default '',
  kind            text not null default '',
  owner           text not null default '',
  series          text collate "C" not null default '', -- the check of which it is a failure
  fields          jsonb not null default '{}',         -- {field: [rank, value]}
  opened_at       timestamptz not null,
  acknowledged_at timestamptz,
  resolved_at     timestamptz,
  updated_at      timestamptz not null default clock_timestamp(),
  primary key (tenant_id, incident_id)
);
create index incidents_by_age on incidents (tenant_id, opened_at desc, incident_id);
create index incidents_not_resolved on incidents (tenant_id, opened_at desc) where state <> 'resolved';
create index incidents_of_series on incidents (tenant_id, source, series, opened_at) where series <> '';

-- When a check last passed: that resolves the incidents of its series that were opened before, also those that arrive late.
create table incident_passes (
  tenant_id text not null,
  source    text collate "C" not null,
  series    text collate "C" not null,
  passed_at timestamptz not null,
  primary key (tenant_id, source, series)
);

-- The assets that it concerns itself.
create table incident_assets (
  tenant_id   text not null,
  incident_id uuid not null,
  asset_id    uuid not null,
  primary key (tenant_id, incident_id, asset_id)
);
create index incident_assets_of_asset on incident_assets (tenant_id, asset_id);

-- Names that no asset has yet. Once one appears, it is matched.
create table incident_names (
  tenant_id   text not null,
  folded      text collate "C" not null,
  incident_id uuid not null,
  name        text not null,                           -- as the source writes it
  source      text not null,                           -- whose mapping rules apply
  since       timestamptz not null default clock_timestamp(),
  primary key (tenant_id, folded, incident_id)
);

create index incident_names_of_incident on incident_names (tenant_id, incident_id);

-- Every message that was merged, once: by its event.
create table incident_history (
  tenant_id   text not null,
  incident_id uuid not null,
  event_id    text collate "C" not null,
  at          timestamptz not null,
  by          text not null default '',
  change      jsonb not null,                          -- the statement
  primary key (tenant_id, incident_id, event_id)
);

-- What lies downstream of an incident that is not resolved: a row for each asset of the graph that it reaches. `via` is the
-- asset from which it came; null for the assets of the incident itself. What lies below them inherits it.
create table at_risk (
  tenant_id   text not null,
  asset_id    uuid not null,
  incident_id uuid not null,
  via         uuid,
  primary key (asset_id, incident_id, tenant_id)  -- ids first, for the reason given in 0003
);
create index at_risk_of_incident on at_risk (incident_id, asset_id);

-- It gets a parameter and a column. `functions/70_reached_from_elsewhere.sql` creates it again.
drop function if exists reached_from_elsewhere(text, text[], boolean, uuid[], uuid[], boolean);

do $$
declare
  guarded text;
begin
  foreach guarded in array array['incidents', 'incident_passes', 'incident_assets', 'incident_names', 'incident_history',
                                 'at_risk'] loop
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
grant select on incidents, incident_assets, incident_names, incident_history, at_risk to lily_api;

-- A secret that was replaced stays valid until then, so that senders can change to the new one without downtime.
alter table secrets add column expires_at timestamptz;
