-- The refresher: for each data source of a tenant a schedule, and the runs in which scrapers read it again.

-- The refresher finds the data sources of all tenants with one look-up per data source (a loose index scan), not by reading
-- the assets. Equal keys share an entry, so the index is small and cheap to keep.
create index assets_by_data_source on assets (tenant_id, data_source) where data_source is not null and not is_deleted;

-- One row per data source that an asset names, or that a person configured.
create table refresh_schedules (
  tenant_id         text not null references tenants,
  data_source       text collate "C" not null,
  first_seen        timestamptz not null,
  is_configured     boolean not null default false,  -- by a person; otherwise it goes with the last asset that names it
  enabled           boolean not null default true,
  every             interval not null default '24 hours' check (every > '0'),
  timeout           interval not null default '4 hours' check (timeout > '0'),
  next_at           timestamptz not null,
  last_requested_at timestamptz,
  failing           text,                            -- the external id of the incident, while refreshes fail
  primary key (tenant_id, data_source)
);
create index refresh_schedules_due on refresh_schedules (next_at) where enabled;

-- A run is also its own outbox row: `batch_id` publishes the request on `scraping-job-events`, `finished_batch` the outcome
-- on `incident-events`.
create table refresh_runs (
  tenant_id      text not null references tenants,
  run_id         uuid not null,
  data_source    text collate "C" not null,
  state          text not null default 'requested'
                 check (state in ('requested', 'running', 'succeeded', 'failed', 'timed_out')),
  reason         text not null check (reason in ('schedule', 'catch-up', 'manual')),
  due_at         timestamptz not null,
  requested_at   timestamptz not null,
  requested_by   text not null default '',
  timeout        interval not null,
  deadline       timestamptz not null,
  batch_id       bigint not null,
  started_at     timestamptz,
  scraper        text not null default '',           -- who reported the start
  lease          uuid,                               -- of the scraper that took it, which renews it until `lease_until`
  lease_until    timestamptz,
  finished_at    timestamptz,
  finished_batch bigint,
  error          text not null default '',
  counts         jsonb not null default '{}',
  failure        text,                               -- the external id of the incident that it is part of
  primary key (tenant_id, run_id),
  check ((finished_at is null) = (state in ('requested', 'running')))
);
-- At most one run of a data source is not finished.
create unique index refresh_runs_unfinished on refresh_runs (tenant_id, data_source) where finished_at is null;
create index refresh_runs_by_deadline on refresh_runs (deadline) where finished_at is null;
create index refresh_runs_by_age on refresh_runs (tenant_id, requested_at desc, run_id);
create index refresh_runs_of_source on refresh_runs (tenant_id, data_source, requested_at desc, run_id);
create index refresh_runs_finished on refresh_runs (finished_at) where finished_at is not null;
create index refresh_runs_of_batch on refresh_runs (batch_id);
create index refresh_runs_of_finished_batch on refresh_runs (finished_batch) where finished_batch is not null;

select separate_tenants('refresh_schedules', 'refresh_runs');
grant select, insert, update, delete on refresh_schedules, refresh_runs to lily_pipeline;
grant select, insert, update, delete on refresh_schedules to lily_api;
grant select, insert, update on refresh_runs to lily_api;
