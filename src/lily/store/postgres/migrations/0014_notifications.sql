-- Notifications: who wants to know what and where, what was sent, and what became of it.

-- A configured channel. The configuration holds secrets: it is encrypted (lily.store.postgres.access.secrets) and only
-- workers decrypt it.
create table notification_channels (
  tenant_id   text not null references tenants,
  key         text collate "C" not null,  -- the name, folded
  name        text not null,
  type        text not null,              -- of the plug-in
  per_second  double precision check (per_second > 0),  -- messages to one destination; null: as many as there are
  wrapped_key bytea not null,
  sealed      bytea not null,
  version     bigint not null default 1,  -- of the configuration: workers make the channel anew
  created_at  timestamptz not null default clock_timestamp(),
  updated_at  timestamptz not null default clock_timestamp(),
  test        jsonb,                      -- the last one that was requested: {request, delivered, receiver_id, error, …}
  primary key (tenant_id, key)
);

-- `changes` are the changes of assets that its kinds name: what the relay has to route to `subscribed-changes`.
create table subscriptions (
  tenant_id  text not null references tenants,
  id         uuid not null,
  name       text not null,
  channel    text collate "C" not null,   -- the key of a channel
  is_enabled boolean not null,
  changes    text[] not null default '{}',
  body       jsonb not null,              -- lily.notify.subscriptions.Subscription
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

-- What owners and teams are called where messages go.
create table mentions (
  tenant_id  text not null references tenants,
  key        text collate "C" not null,   -- the name, folded
  name       text not null,
  handles    jsonb not null,              -- {name or type of a channel: handle}
  primary key (tenant_id, key)
);

create table notification_mutes (
  tenant_id  text not null references tenants,
  id         uuid not null,
  asset_id   uuid,
  kind       text,
  until      timestamptz,
  reason     text not null default '',
  by         text not null,
  created_at timestamptz not null default clock_timestamp(),
  check (asset_id is not null or kind is not null),
  primary key (tenant_id, id)
);

-- One row per tenant that has any of the above. A worker reads them again when `version` has changed; the relay routes the
-- changes that enabled subscriptions name. Kept by triggers (functions/90_subscribed_tenants.sql).
create table subscribed_tenants (
  tenant_id text primary key references tenants,
  version   bigint not null default 1,
  changes   text[] not null default '{}'
);

-- The panel's list: one row per event that is about an incident or that a subscription matched.
create table notifications (
  tenant_id       text not null,
  notification_id uuid not null,          -- derived from tenant and event
  position        bigint generated always as identity,
  event_id        text collate "C" not null,
  at              timestamptz not null,
  kind            text not null,
  severity        text not null check (severity in ('info', 'warning', 'critical')),
  title           text not null,
  text            text not null,
  incident_id     uuid,
  assets          uuid[] not null default '{}',
  event           jsonb not null,         -- lily.notify.events.Occurrence
  is_muted        boolean not null default false,
  acknowledged_by text,
  acknowledged_at timestamptz,
  created_at      timestamptz not null default clock_timestamp(),
  primary key (tenant_id, notification_id)
);
create index notifications_by_age on notifications (tenant_id, position desc);
create index notifications_of_incident on notifications (tenant_id, incident_id, position desc) where incident_id is not null;
create index notifications_of_asset on notifications using gin (assets);
create index notifications_created on notifications using brin (created_at) with (autosummarize = on);

-- The receipts: a notification for one subscription at one destination. `target` identifies channel and destination.
create table deliveries (
  tenant_id       text not null,
  delivery_id     uuid not null,          -- derived from notification, subscription and destination
  notification_id uuid not null,
  subscription_id uuid not null,
  channel         text collate "C" not null,
  destination     text not null,
  target          text collate "C" not null,
  kind            text not null,
  state           text not null check (state in ('waiting', 'held', 'grouped', 'delivered', 'failed', 'suppressed')),
  reason          text not null default '',  -- why it is held, grouped or suppressed
  assets          uuid[],                 -- that matched; null: all of the notification's
  owners          text[] not null default '{}',  -- to be mentioned
  incident_id     uuid,
  is_lead         boolean not null default false,  -- others may join it until `due_at`
  lead            uuid,                   -- the delivery with which it is sent
  due_at          timestamptz not null,
  attempts        integer not null default 0,
  receiver_id     text not null default '',
  error           text not null default '',  -- of the last attempt
  created_at      timestamptz not null default clock_timestamp(),
  attempted_at    timestamptz,
  delivered_at    timestamptz,
  primary key (tenant_id, delivery_id)
);
create index deliveries_of_notification on deliveries (tenant_id, notification_id);
create index deliveries_of_subscription on deliveries (tenant_id, subscription_id, created_at desc);
create index deliveries_of_lead on deliveries (tenant_id, lead) where lead is not null;
create index deliveries_that_lead on deliveries (tenant_id, subscription_id, target)
  where is_lead and state in ('waiting', 'held');
-- In which thread or ticket an incident is continued.
create index deliveries_of_incident on deliveries (tenant_id, incident_id, target)
  where incident_id is not null and receiver_id <> '';

-- How each destination does: failures in a row, until when it is paused, and what its rate limit leaves.
create table delivery_targets (
  tenant_id    text not null,
  target       text collate "C" not null,
  channel      text collate "C" not null,
  destination  text not null,
  failures     integer not null default 0,
  paused_until timestamptz,
  is_gone      boolean not null default false,  -- the receiver wants no more, until a test succeeds
  tokens       double precision not null default 0,
  refilled_at  timestamptz,
  error        text not null default '',
  failed_at    timestamptz,
  delivered_at timestamptz,
  primary key (tenant_id, target)
);

do $$
declare
  guarded text;
begin
  foreach guarded in array array['notification_channels', 'subscriptions', 'mentions', 'notification_mutes',
                                 'subscribed_tenants', 'notifications', 'deliveries', 'delivery_targets'] loop
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
grant select, insert, update, delete on subscriptions, mentions, notification_mutes to lily_api;
grant select on notifications, deliveries, delivery_targets to lily_api;
grant update (acknowledged_by, acknowledged_at) on notifications to lily_api;
-- The API stores the encrypted configuration and cannot read it back.
grant select (tenant_id, key, name, type, per_second, version, created_at, updated_at, test),
      insert (tenant_id, key, name, type, per_second, wrapped_key, sealed),
      update (type, per_second, wrapped_key, sealed, version, updated_at, test), delete
  on notification_channels to lily_api;
-- Why a change was (not) sent is explained from the change itself, by its position.
create index changes_by_position on changes using brin (position) with (autosummarize = on);
