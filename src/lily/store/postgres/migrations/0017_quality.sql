-- Usage of assets, the policies that watch it, and what they found.

-- Queries per asset and UTC day. Indexes here begin with an id and not with the tenant: see `edges`.
create table usage_days (
  tenant_id text not null,
  asset_id  uuid not null,
  day       date not null,
  queries   bigint not null,
  primary key (asset_id, day, tenant_id)
) with (fillfactor = 90);
create index usage_days_by_age on usage_days using brin (day) with (autosummarize = on);

-- Events whose senders gave them an id: a repeat is not counted.
create table usage_event_ids (
  tenant_id  text not null,
  asset_id   uuid not null,
  event_id   text collate "C" not null,
  counted_at timestamptz not null default clock_timestamp(),
  primary key (asset_id, event_id, tenant_id)
);
create index usage_event_ids_by_age on usage_event_ids using brin (counted_at) with (autosummarize = on);

-- The first and the last day for which a tenant reported the usage of any asset: before, nothing is known.
create table usage_reports (
  tenant_id text primary key references tenants,
  first_day date not null,
  last_day  date not null
);

create table quality_policies (
  tenant_id   text not null references tenants,
  key         text collate "C" not null,   -- the id, folded
  asset_id    uuid,                        -- null: every asset that the filters leave
  policy_type text collate "C" not null,
  body        jsonb not null,              -- as shown: lily.quality.policies
  delay_hours integer not null,
  created_at  timestamptz not null default clock_timestamp(),
  updated_at  timestamptz not null default clock_timestamp(),
  judged_at   timestamptz,                 -- when all of its assets were judged; null: not since it was changed
  primary key (tenant_id, key)
);

-- What policies found. One row per occurrence: once a finding is closed, the same cause is a new one.
create table quality_findings (
  tenant_id   text not null,
  finding_id  uuid not null,
  policy      text collate "C" not null,   -- its key
  asset_id    uuid not null,
  cause       text collate "C" not null,
  policy_type text collate "C" not null,
  severity    text not null,
  title       text not null,
  is_silent   boolean not null,            -- it was so before the policy was there: not reported
  opened_at   timestamptz not null default clock_timestamp(),
  closed_at   timestamptz,
  primary key (finding_id, tenant_id)
);
create unique index quality_findings_open on quality_findings (asset_id, policy, cause, tenant_id) where closed_at is null;
create index quality_findings_of_policy on quality_findings (policy, asset_id) where closed_at is null;
create index quality_findings_by_age on quality_findings using brin (opened_at) with (autosummarize = on);

-- The outbox of statements about incidents, on their way to `incident-events`.
create table incident_statements (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  body         jsonb not null,             -- the data of the event
  committed_at timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);

select separate_tenants('usage_days', 'usage_event_ids', 'usage_reports', 'quality_policies',
                        'quality_findings', 'incident_statements');
grant select, insert, update, delete on usage_days, usage_event_ids, usage_reports,
  quality_policies, quality_findings, incident_statements to lily_pipeline;
grant select on usage_days, quality_policies, quality_findings to lily_api;
grant insert, update, delete on quality_policies to lily_api;
