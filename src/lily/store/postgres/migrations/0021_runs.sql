-- Edges that nothing but the inputs and outputs of a run suggests are marked, and give way to whatever is stated.
alter table claims add column assumed boolean not null default false;
alter table edges add column claims_assume boolean not null default false;  -- every claim of the edge is assumed
alter table edges add column assumed boolean generated always as (
  claimed and claims_assume and "user" is null and coalesce((source ->> '$deleted')::boolean, true)) stored;

-- What the events of a run add up to (lily.lineage.runs), by clocks. A claim counts as made when its run completes. One that
-- the completion of another run ended is set aside while its own run goes on.
create table runs (
  tenant_id    text not null,
  job_id       uuid not null,
  run          text collate "C" not null,
  state        text not null,
  completed_at text collate "C",  -- the clock of the newest event that completes it
  started_at   timestamptz not null,
  ended_at     timestamptz,
  updated_at   timestamptz not null,
  lineage      jsonb not null,
  facets       jsonb not null default '{}',  -- by place: the clock and the facet as it came
  primary key (job_id, run, tenant_id)
);
create index runs_of_job on runs (job_id, updated_at, run);
create index runs_by_run on runs (run);
alter table claims add column aside boolean not null default false;

-- The newest schema of a dataset in each scope: a producer, or for datasets that it only reads an application of it.
-- Columns are names by qualified name. What a newer schema no longer has is retired.
create table dataset_schemas (
  tenant_id  text not null,
  dataset_id uuid not null,
  scope      text collate "C" not null,
  at         text collate "C" not null,  -- the clock of the event
  digest     text not null,              -- of the columns: most events state what is known
  columns    jsonb not null,
  primary key (dataset_id, scope, tenant_id)
);
-- Statements that follow from an event, and not from the moment in which they were computed.
alter table rule_statements add column stated_at timestamptz;

select separate_tenants('runs', 'dataset_schemas');
grant select on runs to lily_api;
grant select, insert, update, delete on runs, dataset_schemas to lily_pipeline;
