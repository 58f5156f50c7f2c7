-- Tenants, access, assets, the change log, dead letters.
--
-- Roles: the owner migrates and administers; lily_api serves requests and sees one tenant at a time; lily_pipeline
-- (the pipeline and the workers) applies the log for all tenants. Neither of the two owns a table or bypasses
-- row-level security, and lily_api cannot write an asset at all.

-- Who is asking -----------------------------------------------------------------------------------------------------

create table tenants (
  id         text primary key check (id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  created_at timestamptz not null default now()
);

create table tokens (
  id         uuid primary key default gen_random_uuid(),
  tenant_id  text not null references tenants,
  hash       bytea not null unique,  -- SHA-256 of 32 random bytes: the token itself is never stored
  scopes     text[] not null,
  user_name  text not null default '',
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

-- A browser's WebSocket cannot send a header; it shows a ticket, once.
create table tickets (
  hash       bytea primary key,
  tenant_id  text not null references tenants,
  token_id   uuid not null references tokens,
  expires_at timestamptz not null
);

create table secrets (
  tenant_id   text not null references tenants,
  name        text not null,
  wrapped_key bytea not null,  -- the data key, under the master key that is kept outside the database
  sealed      bytea not null,  -- AES-256-GCM under the data key, bound to tenant and name
  updated_at  timestamptz not null default now(),
  primary key (tenant_id, name)
);

create table audit (
  id        bigint generated always as identity primary key,
  tenant_id text not null references tenants,
  at        timestamptz not null default now(),
  principal text not null,
  action    text not null,
  entity    text not null,
  detail    jsonb not null default '{}'
);
create index audit_of_tenant on audit (tenant_id, id);

-- What Lily knows ---------------------------------------------------------------------------------------------------

-- Effective tags, folded: the source's where it states any, else the person's; protective ones of any layer always.
create function effective_tags(source jsonb, enriched jsonb, "user" jsonb) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct tag order by tag), '{}')
  from (
    select jsonb_object_keys(
      case when coalesce(source -> 'tags', '{}') <> '{}' then source -> 'tags' else coalesce("user" -> 'tags', '{}') end)
    union all
    select tag
    from unnest(array[source -> 'tags', enriched -> 'tags', "user" -> 'tags']) as layer (tags),
         jsonb_object_keys(coalesce(tags, '{}')) as stated (tag)
    where tag in ('pii', 'gdpr')
  ) as tags (tag)
$$;

-- A layer is (values, newest clock, clocks that differ from it): see lily.model.layers.
create table assets (
  tenant_id       text not null,
  id              uuid not null,
  qualified_name  text collate "C" not null,
  source          jsonb,
  source_at       text collate "C",
  source_clocks   jsonb,
  enriched        jsonb,
  enriched_at     text collate "C",
  enriched_clocks jsonb,
  "user"          jsonb,
  user_at         text collate "C",
  user_clocks     jsonb,
  version         integer not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- What lists filter and sort by: the shown values.
  entity_type text collate "C" generated always as (
    coalesce(source ->> '$type', enriched ->> '$type', "user" ->> '$type')) stored,
  name        text collate "C" generated always as (
    coalesce("user" ->> 'name', enriched ->> 'name', source ->> 'name')) stored,
  owner       text generated always as (coalesce("user" ->> 'owner', enriched ->> 'owner', source ->> 'owner')) stored,
  data_source text generated always as (
    coalesce("user" ->> 'data_source', enriched ->> 'data_source', source ->> 'data_source')) stored,
  parent      text generated always as (
    coalesce("user" ->> '$parent', enriched ->> '$parent', source ->> '$parent')) stored,
  tags        text[] generated always as (
    case when source ? 'tags' or enriched ? 'tags' or "user" ? 'tags'
         then effective_tags(source, enriched, "user") else '{}' end) stored,
  -- A person's deletion outlives source refreshes; a person's restore outlives the source's older deletion.
  is_deleted  boolean generated always as (
    coalesce(("user" ->> '$deleted')::boolean, false)
    or coalesce((source ->> '$deleted')::boolean, false)
       and not (coalesce(not ("user" ->> '$deleted')::boolean, false)
                and coalesce(user_clocks ->> '$deleted', user_at) > coalesce(source_clocks ->> '$deleted', source_at))
  ) stored,
  primary key (tenant_id, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);

create index assets_by_type on assets (tenant_id, entity_type, id);
create index assets_by_parent on assets (tenant_id, parent, id) where parent is not null;
create index assets_by_tag on assets using gin (tags) where tags <> '{}';

-- The words of a name: separators are blanks, so that "orders" finds warehouse.sales.orders.
create function search_words(name text, qualified_name text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', translate(coalesce(name, '') || ' ' || qualified_name, './_:-', '     '));

create index assets_by_word on assets using gin (search_words(name, qualified_name));

-- What happened -----------------------------------------------------------------------------------------------------

-- One row a transaction of the pipeline: the relay publishes a batch whole, and marks one row instead of thousands.
create table batches (
  id           bigint generated always as identity primary key,
  created_at   timestamptz not null default clock_timestamp(),
  published_at timestamptz
);
create index batches_unpublished on batches (id) where published_at is null;

-- The outbox and the history in one: a row for each layer of an asset that a batch really changed.
create table changes (
  position       bigint generated always as identity,
  batch_id       bigint not null,
  tenant_id      text not null,
  asset_id       uuid not null,
  qualified_name text not null,
  entity_type    text,
  layer          text not null,
  version        integer not null,
  before         jsonb,          -- the layer's values; null: the layer is new
  after          jsonb not null,
  causes         jsonb not null, -- the events that did it: [{id, time, by, correlation, trace}]
  committed_at   timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);
create index changes_of_asset on changes (asset_id, position);

-- How far each partition of each topic has been applied. It commits with the changes, so it is the truth about
-- progress: the pipeline starts from here, and a write is readable once its offset lies below.
create table applied (
  topic       text not null,
  partition   integer not null,
  next_offset bigint not null,
  applied_at  timestamptz not null default clock_timestamp(),
  primary key (topic, partition)
);

create table dead_letters (
  id          bigint generated always as identity primary key,
  batch_id    bigint not null,
  tenant_id   text not null,  -- '' where not even the tenant could be read
  topic       text not null,
  partition   integer not null,
  "offset"    bigint not null,
  key         bytea,
  original    bytea,
  errors      jsonb not null,  -- [{code, description, entity}]
  refused_at  timestamptz not null default clock_timestamp(),
  replayed_at timestamptz,
  unique (topic, partition, "offset")
);
create index dead_letters_of_tenant on dead_letters (tenant_id, id);
create index dead_letters_of_batch on dead_letters (batch_id);

-- Who may do what ---------------------------------------------------------------------------------------------------

create function tenant() returns text language sql stable parallel safe
return nullif(current_setting('lily.tenant', true), '');

do $$
declare
  guarded text;
begin
  foreach guarded in array array['tokens', 'tickets', 'secrets', 'audit', 'assets', 'changes', 'dead_letters'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy one_tenant on %I to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant())', guarded);
  end loop;
  foreach guarded in array array['assets', 'changes', 'dead_letters'] loop
    execute format('create policy every_tenant on %I to lily_pipeline using (true) with check (true)', guarded);
  end loop;
  foreach guarded in array array['tokens', 'tickets', 'secrets', 'audit', 'assets', 'changes', 'dead_letters'] loop
    execute format('create policy administration on %I to current_user using (true) with check (true)', guarded);
  end loop;
end
$$;

-- A token is looked up before its tenant is known, so this one look-up runs with the owner's rights, by hash only.
create function authenticate(token_hash bytea)
returns table (token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.id, t.tenant_id, t.scopes, t.user_name, t.expires_at
  from tokens t
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;

-- A ticket is used up by being shown; those that nobody showed in time go with it.
create function redeem_ticket(ticket_hash bytea)
returns table (token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  with used as (delete from tickets where hash = ticket_hash or expires_at < now() returning *)
  select t.id, t.tenant_id, t.scopes, t.user_name, t.expires_at
  from used join tokens t on t.id = used.token_id and t.tenant_id = used.tenant_id
  where used.hash = ticket_hash and used.expires_at > now() and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;

-- Row-level security hides rows before any operator that might tell about them, and neither @@ nor @> is known not to.
-- So lily_api could use no GIN index and would read the whole tenant. These two look-ups run with the owner's rights,
-- name the tenant of the transaction themselves, and tell ids only.
create function ids_by_words(words text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets
  where tenant_id = tenant() and search_words(name, qualified_name) @@ to_tsquery('simple', words)
$$;

create function ids_by_tag(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from assets where tenant_id = tenant() and tags <> '{}' and tags @> array[tag]
$$;

revoke all on function authenticate(bytea), redeem_ticket(bytea), ids_by_words(text), ids_by_tag(text) from public;
grant execute on function authenticate(bytea), redeem_ticket(bytea), ids_by_words(text), ids_by_tag(text) to lily_api;

grant usage on schema public to lily_api, lily_pipeline;
grant select on assets, changes, dead_letters, applied, batches to lily_api;
grant update (replayed_at) on dead_letters to lily_api;
grant insert on tickets to lily_api;
grant select, insert, update, delete on secrets to lily_api;
grant select, insert on audit to lily_api;

grant select on tenants, applied, assets, changes, batches, dead_letters to lily_pipeline;
grant insert, update on assets, applied, batches to lily_pipeline;
grant insert on changes, dead_letters to lily_pipeline;
grant delete on batches to lily_pipeline;
