-- What the function `propagate` reads and what it leaves; they live as long as the connection.
create temporary table if not exists marked (
  id   uuid primary key,
  root uuid not null,  -- the asset whose change it was: the receipt is for that
  -- Everything about it may have changed; false for what has only come into the graph.
  whole boolean not null default true
) on commit delete rows;
create temporary table if not exists marked_edges (
  from_id uuid not null,
  to_id   uuid not null,
  root    uuid not null,
  primary key (from_id, to_id)
) on commit delete rows;
create temporary table if not exists touched (
  tag  text collate "C" not null,
  id   uuid not null,
  root uuid not null,
  had  boolean not null,  -- lost a support that it had before
  primary key (tag, id)
) on commit delete rows;
create temporary table if not exists concerned (
  id   uuid primary key,
  root uuid not null
) on commit delete rows;
