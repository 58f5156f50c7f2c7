-- The input and output of the function `propagate`. The tables live as long as the connection.
create temporary table if not exists marked (
  id   uuid primary key,
  root uuid not null,  -- the asset that changed; its receipt counts what is reached
  -- Anything about the asset may have changed; false if it is only new in the graph, or only has another parent.
  whole boolean not null default true,
  known boolean not null default false  -- it is in the graph, and its edges and parents are as they were
) on commit delete rows;
create temporary table if not exists marked_edges (
  from_id uuid not null,
  to_id   uuid not null,
  root    uuid not null
) on commit delete rows;
create temporary table if not exists touched (
  tag  text collate "C" not null,
  id   uuid not null,  -- an asset that gained and lost supports of a tag is here several times
  root uuid not null,
  had  boolean not null  -- it lost a support that it had before
) on commit delete rows;
create temporary table if not exists concerned (
  id   uuid primary key,
  root uuid not null
) on commit delete rows;
