-- The claims of a batch, and the edges whose claims it changes. The tables live as long as the connection.
create temporary table if not exists staged_claims (
  like claims, primary key (tenant_id, job_id, from_id, to_id, type, run)
) on commit delete rows;
create temporary table if not exists touched_edges (
  tenant_id text not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  suspect   boolean not null,  -- a protective tag may be lost: a claim ends, or the edge is masked
  claimed   boolean not null,  -- by the claims of this batch, which mask it and are assumed if all of them do and are
  masking   boolean not null,
  assumed   boolean not null,
  time      timestamptz not null,
  causes    jsonb not null,
  primary key (tenant_id, from_id, to_id, type)
) on commit delete rows
