-- Attributes that travel along lineage, because a rule of the tenant says so.

-- What a tenant decides. One rule an attribute: two would contradict each other.
create table propagation_rules (
  tenant_id  text not null references tenants,
  key        text collate "C" not null,  -- the name, folded
  name       text not null,              -- as first given
  attribute  text collate "C" not null,
  mode       text not null check (mode in ('set-if-empty', 'add', 'override')),
  direction  text not null default 'downstream' check (direction in ('downstream', 'upstream', 'both')),
  max_depth  integer check (max_depth >= 1),
  edge_types text[],                     -- null: all
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, key),
  unique (tenant_id, attribute)
);

-- What rules came to: one row for each value at an asset, however many origins there are. The neighbour `via` has it
-- too, one edge nearer to the nearest origin, so following `via` tells a path. What an asset says itself is not here.
-- Indexes begin with an id, or with a key that names the tenant: see `edges` and `derived_by_tag`.
create table derived_attributes (
  tenant_id text not null,
  rule      text collate "C" not null,  -- its key
  asset_id  uuid not null,
  attribute text collate "C" not null,  -- the rule's: it may be deleted, and made anew for another one
  item      text collate "C" not null,  -- '' for the one value; of a rule that adds, the item as canonical JSON
  value     jsonb not null,
  via       uuid not null,
  depth     integer not null,           -- edges to the nearest origin
  stated    boolean not null,           -- false while nobody has described the asset: then it only conducts
  primary key (asset_id, rule, attribute, item, tenant_id)
);
create index derived_by_rule on derived_attributes ((tenant_id || '/' || rule), asset_id);

-- The outbox of what rules state: statements on their way to the log, where they are like any other.
create table rule_statements (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  asset_id     uuid not null,
  body         jsonb not null,  -- the data of the event
  -- The beginning of the run. Runs of a tenant follow one another, so of two statements the later one is the newer.
  committed_at timestamptz not null default now(),
  primary key (batch_id, position)
);

do $$
declare
  guarded text;
begin
  foreach guarded in array array['propagation_rules', 'derived_attributes', 'rule_statements'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy one_tenant on %I to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant())', guarded);
    execute format('create policy every_tenant on %I to lily_pipeline using (true) with check (true)', guarded);
    execute format('create policy administration on %I to current_user using (true) with check (true)', guarded);
    execute format('grant select on %I to lily_api, lily_pipeline', guarded);
  end loop;
end
$$;
grant insert, update, delete on propagation_rules to lily_api;
grant insert, update, delete on derived_attributes to lily_pipeline;
grant insert, delete on rule_statements to lily_pipeline;
