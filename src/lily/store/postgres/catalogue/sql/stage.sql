-- One row per layer of an asset that the batch states. The table lives as long as the connection.
create temporary table if not exists staged (
  layer          text not null,
  tenant_id      text not null,
  id             uuid not null,
  qualified_name text collate "C" not null,
  fields         jsonb not null,
  keys           text[] not null,
  at             text collate "C" not null,
  clocks         jsonb,
  first          timestamptz not null,
  last           timestamptz not null,
  causes         jsonb not null,
  entity_type    text  -- as the API knew it; PostgreSQL has no type of an asset that so far only the lake has
) on commit delete rows
