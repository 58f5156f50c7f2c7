-- One row per layer of an edge that the batch states. The table lives as long as the connection. It keeps its rows: those
-- that a commit empties are emptied by every commit that touched any of them, and most are of assets alone.
create temporary table if not exists staged_edges (
  layer     text not null,
  tenant_id text not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  fields    jsonb not null,
  at        text collate "C" not null,
  clocks    jsonb,
  first     timestamptz not null,
  last      timestamptz not null,
  causes    jsonb not null,
  authority jsonb,  -- the newest event that has authority
  primary key (tenant_id, from_id, to_id, type, layer)
)
