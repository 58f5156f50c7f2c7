-- The history of derived tags: by it, a decision of the past has the tags that had reached the asset then.
--
-- Here are the supports that have ended; those in force are in `derived_tags`. So a tag that comes writes nothing here, and
-- one that goes, or changes its support, writes one row. A support ended at `until`. The asset had the tag, in the same way
-- (`kind`), since `since`: if its support changed meanwhile, several rows have the same `since`, and at any time the row that
-- ends first after it was in force.
create table derived_tag_history (
  tenant_id text not null,
  tag       text collate "C" not null,
  asset_id  uuid not null,
  kind      text collate "C" not null,
  via       uuid not null,
  depth     integer not null,
  steps     integer not null,
  since     timestamptz not null,
  until     timestamptz not null,
  primary key (asset_id, tag, kind, until, tenant_id)
);
-- Rows are appended in the order of `until`, and only housekeeping looks for them by age.
create index derived_tag_history_by_age on derived_tag_history using brin (until) with (autosummarize = on);

-- From when on the history of a tenant is complete. Without a row it is complete from the tenant's beginning.
create table derived_tag_history_starts (
  tenant_id text primary key references tenants,
  starts_at timestamptz not null
);
-- What these tenants derive now is where their history begins.
insert into derived_tag_history_starts (tenant_id, starts_at) select id, now() from tenants;

-- All that a run of propagation changes, it changes at one time: the beginning of its transaction.
alter table derived_tags alter column since set default now();

-- The API reads the rows of its tenant and writes none.
alter table derived_tag_history enable row level security, force row level security;
create policy one_tenant on derived_tag_history for select to lily_api using (tenant_id = tenant());
create policy every_tenant on derived_tag_history to lily_pipeline using (true) with check (true);
create policy administration on derived_tag_history to current_user using (true) with check (true);
alter table derived_tag_history_starts enable row level security, force row level security;
create policy one_tenant on derived_tag_history_starts for select to lily_api using (tenant_id = tenant());
create policy every_tenant on derived_tag_history_starts to lily_pipeline using (true) with check (true);
create policy administration on derived_tag_history_starts to current_user using (true) with check (true);
grant select on derived_tag_history, derived_tag_history_starts to lily_api, lily_pipeline;
grant insert, delete on derived_tag_history to lily_pipeline;
grant insert, update on derived_tag_history_starts to lily_pipeline;
