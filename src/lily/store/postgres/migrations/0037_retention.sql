-- What has grown old leaves PostgreSQL (docs/decisions/0058).

-- What has left the history of an asset: from when to when, who stated it, and whether the change that made the source layer is
-- among it. Written where changes are deleted, so an asset without a row has its whole history in `changes`.
create table archived_changes (
  tenant_id text not null,
  asset_id  uuid not null,
  first_at  timestamptz not null,
  last_at   timestamptz not null,
  senders   text[] not null,  -- '' for an event that did not name its sender
  has_first boolean not null,
  primary key (asset_id, tenant_id)  -- ids first, for the reason given in 0003
);
select separate_tenants('archived_changes');
grant select on archived_changes to lily_api;
grant select, insert, update on archived_changes to lily_pipeline;

-- What the lake has recorded and PostgreSQL refused must stay known, so the letter stays and loses its original.
alter table dead_letters add column emptied_at timestamptz;
create index dead_letters_with_original on dead_letters (id) where emptied_at is null;
create index propagations_by_age on propagations (finished_at);
create index incidents_resolved on incidents (updated_at) where state = 'resolved';

grant delete on changes, edge_changes, propagated, decisions, dead_letters to lily_pipeline;
grant update (original, emptied_at) on dead_letters to lily_pipeline;
