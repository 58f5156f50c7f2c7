-- The claims of a batch, those that end with it, and the edges whose claims it changes. The tables live as long as the
-- connection and keep their rows (see stage.sql), so they are emptied before they are used.
create temporary table if not exists staged_claims (
  like claims, primary key (tenant_id, job_id, from_id, to_id, type, run)
);
create temporary table if not exists ended_claims (
  like held_claims, primary key (tenant_id, job_id, from_id, to_id, type, masking)
);
create temporary table if not exists touched_edges (
  tenant_id text not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  claimed   boolean not null,  -- by the claims of this batch, which mask it and are assumed if all of them do and are
  masking   boolean not null,
  by_authority boolean not null,
  assumed   boolean not null,
  time      timestamptz not null,
  event     integer not null,  -- which of the causes
  authority jsonb,             -- the same event, if it has authority
  primary key (tenant_id, from_id, to_id, type)
)
