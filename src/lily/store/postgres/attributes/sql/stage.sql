-- What rules came to in a run, on its way to the tables that row-level security keeps from COPY.
create temporary table if not exists new_labels (
  rule      text collate "C" not null,
  asset_id  uuid not null,
  item      text collate "C" not null,
  attribute text collate "C" not null,
  value     jsonb,  -- null: the row goes
  via       uuid,
  depth     integer,
  stated    boolean
) on commit delete rows;
create temporary table if not exists new_statements (
  asset_id uuid not null,
  body     jsonb not null
) on commit delete rows;
