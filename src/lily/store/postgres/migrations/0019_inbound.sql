-- Webhooks of further sources: mappings that tenants state as data, and what a directory of users states.

-- How the messages of a source become incidents. `body` is the mapping as the API shows it.
create table webhook_mappings (
  tenant_id  text not null references tenants,
  name       text collate "C" not null,               -- of the source: POST /webhook/NAME
  body       jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);

-- The newest that a directory stated about a user, by the directory's own clock: an event that arrives late changes
-- nothing. `subject` is empty for whether the user is enabled, else a group, folded: whether the user is in it.
create table directory_states (
  tenant_id text not null references tenants,
  source    text collate "C" not null,
  user_name text not null,                            -- folded: see folded_user
  subject   text collate "C" not null,
  holds     boolean not null,
  at        timestamptz not null,
  event_id  text collate "C" not null,                -- breaks ties
  primary key (tenant_id, source, user_name, subject)
);

-- Which directory disabled the user; empty: an administrator, whose decision a directory does not undo.
alter table disabled_users add column disabled_by text not null default '';

select separate_tenants('webhook_mappings', 'directory_states');
grant select, insert, update, delete on webhook_mappings to lily_api;
grant select on webhook_mappings to lily_pipeline;
grant select, insert, update on directory_states to lily_pipeline;

-- An administrator takes over what a directory disabled.
grant update (disabled_by) on disabled_users to lily_api;

-- The worker does to users what a directory states: it disables and enables them, and changes their groups.
create policy directory on disabled_users to lily_pipeline using (true) with check (true);
grant insert, update (disabled_by), delete on disabled_users to lily_pipeline;
grant insert, update on users to lily_pipeline;
grant update (version, compiled, changed_at) on access_versions to lily_pipeline;
grant insert, update (valid_to) on access_history to lily_pipeline;
