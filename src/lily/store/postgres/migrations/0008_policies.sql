-- Policies: who may do what, as administrators state it, and the log of decisions.
--
-- Each kind of object is one table of the same shape. `body` is the object as the API shows it. `key` is its id or name,
-- folded: names compare without case. `names` are the subjects that it names, folded and with the letter of their kind
-- (`r:reader`), to find who still names a role. `version` is the tenant's version at its last change.

create table policies (
  tenant_id  text not null references tenants,
  key        text collate "C" not null,
  body       jsonb not null,
  names      text[] collate "C" not null default '{}',
  version    bigint not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, key)
);
create table roles (like policies including all);
alter table roles add foreign key (tenant_id) references tenants;
create table users (like policies including all);
alter table users add foreign key (tenant_id) references tenants;
create table scraper_policies (like policies including all);
alter table scraper_policies add foreign key (tenant_id) references tenants;
create table engine_mappings (like policies including all);
alter table engine_mappings add foreign key (tenant_id) references tenants;
-- At most one row per tenant; without a row the defaults apply.
create table access_settings (like policies including all);
alter table access_settings add foreign key (tenant_id) references tenants;

-- Every change of these tables increments `version`, in its own transaction. `compiled` is the version of the last change
-- that processes compile: all but users and settings, which they look up. The row's lock orders the changes of a tenant.
create table access_versions (
  tenant_id  text primary key references tenants,
  version    bigint not null default 0,
  compiled   bigint not null default 0,
  changed_at timestamptz not null default now()
);
insert into access_versions (tenant_id) select id from tenants;
-- functions/45_access_versions.sql inserts the row of each new tenant.

-- Every state that an object has had, from `valid_from` (included) to `valid_to` (excluded; null: it still has it).
create table access_history (
  tenant_id  text not null references tenants,
  kind       text collate "C" not null,
  key        text collate "C" not null,
  version    bigint not null,
  valid_from timestamptz not null,
  valid_to   timestamptz,
  body       jsonb not null,
  primary key (tenant_id, kind, key, version)
);
create index access_history_open on access_history (tenant_id, kind, key) where valid_to is null;

-- The log of decisions: those that the tenant's settings choose, for as long as housekeeping keeps them.
create table policy_decisions (
  id        uuid not null,  -- a UUIDv7, so the newest is the largest
  tenant_id text not null references tenants,
  at        timestamptz not null,
  by        text not null,  -- the caller
  principal text not null,  -- whom the decision is about
  action    text not null,
  plane     text not null,
  asset_id  uuid not null,
  effect    text not null,
  policy_id text,
  reason    text not null,
  version   bigint not null,  -- of the policies
  primary key (tenant_id, id)
);
create index policy_decisions_by_age on policy_decisions (at);

-- Engines differ in the case of names, so decisions find an asset by its name in any case: see ids_by_name_in_any_case.
create index assets_by_name_in_any_case on assets (tenant_id, lower(qualified_name));

do $$
declare
  guarded text;
begin
  foreach guarded in array array['policies', 'roles', 'users', 'scraper_policies', 'engine_mappings', 'access_settings',
                                 'access_versions', 'access_history', 'policy_decisions'] loop
    execute format(
      'alter table %1$I enable row level security, force row level security;
       create policy one_tenant on %1$I to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
       create policy every_tenant on %1$I to lily_pipeline using (true) with check (true);
       create policy administration on %1$I to current_user using (true) with check (true);
       grant select on %1$I to lily_api, lily_pipeline;', guarded);
  end loop;
end
$$;
grant insert, update, delete on policies, roles, users, scraper_policies, engine_mappings, access_settings to lily_api;
grant update on access_versions to lily_api;
-- A state is recorded once and then only ends.
grant insert, update (valid_to) on access_history to lily_api;
grant insert on policy_decisions to lily_api;
grant delete on policy_decisions to lily_pipeline;
