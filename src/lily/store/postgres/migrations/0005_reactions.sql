-- Reactions: consumers of the change log whose progress commits with their effects.
--
-- How far a reaction has read a partition stands in `applied`, under the topic `TOPIC@REACTION`.

-- A turn of a reaction commits tenant by tenant; the offset in `applied` moves with the last tenant. What the others have
-- committed in the meantime is recorded here, so a crash between two tenants repeats nothing.
create table reaction_turns (
  reaction    text not null,
  topic       text not null,
  partition   integer not null,
  tenant_id   text not null,
  next_offset bigint not null,
  primary key (reaction, topic, partition, tenant_id)
);

-- Events of a tenant that wait for their turn outside the log: the tenant has more of them than its share, its last
-- attempt failed and is retried later, or a dead letter is replayed. While a tenant has parked events its new ones are
-- parked behind them, so they keep their order.
create table parked_events (
  id        bigint generated always as identity,
  reaction  text not null,
  tenant_id text not null,
  topic     text not null,
  partition integer not null,
  "offset"  bigint not null,
  key       bytea not null,
  value     bytea not null,
  parked_at timestamptz not null default clock_timestamp(),
  primary key (reaction, tenant_id, id)
);

create table parked_tenants (
  reaction   text not null,
  tenant_id  text not null,
  attempts   integer not null default 0,   -- failures in a row
  reason     text not null default '',     -- of the last failure
  retry_at   timestamptz not null default clock_timestamp(),
  drained_at timestamptz,                  -- tenants take turns: the one that has waited longest is next
  primary key (reaction, tenant_id)
);

-- The outbox of messages for listeners that are not changes of an asset: one row for up to a thousand assets.
create table announcements (
  position     bigint not null default nextval('changes_position_seq'),
  batch_id     bigint not null,
  tenant_id    text not null,
  event_id     text,            -- of the event that it announces, which the log may deliver again
  body         jsonb not null,  -- the data of the event
  committed_at timestamptz not null default clock_timestamp(),
  primary key (batch_id, position)
);
create unique index announcements_once on announcements (tenant_id, event_id);

alter table reaction_turns enable row level security;
alter table reaction_turns force row level security;
alter table parked_events enable row level security;
alter table parked_events force row level security;
alter table parked_tenants enable row level security;
alter table parked_tenants force row level security;
alter table announcements enable row level security;
alter table announcements force row level security;

-- The workers and the owner see all tenants; lily_api sees the tenant of its transaction.
create policy every_tenant on reaction_turns to lily_pipeline using (true) with check (true);
create policy every_tenant on parked_events to lily_pipeline using (true) with check (true);
create policy every_tenant on parked_tenants to lily_pipeline using (true) with check (true);
create policy every_tenant on announcements to lily_pipeline using (true) with check (true);
create policy administration on reaction_turns to current_user using (true) with check (true);
create policy administration on parked_events to current_user using (true) with check (true);
create policy administration on parked_tenants to current_user using (true) with check (true);
create policy administration on announcements to current_user using (true) with check (true);
create policy one_tenant on parked_events to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
create policy one_tenant on parked_tenants to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
grant select, insert, update, delete on reaction_turns, parked_events, parked_tenants, announcements to lily_pipeline;

-- The API replays dead letters to the reaction that refused them, and waits for a tenant's parked events.
grant select, insert on parked_events to lily_api;
grant select, insert, update on parked_tenants to lily_api;
-- A dead letter that is replayed to a reaction and fails again gets its new cause.
grant update (batch_id, errors, refused_at, replayed_at) on dead_letters to lily_pipeline;
