-- The results of a run. They are staged because COPY cannot write to tables with row-level security.
create temporary table if not exists new_labels (
  rule      text collate "C" not null,
  asset_id  uuid not null,
  item      text collate "C" not null,
  attribute text collate "C" not null,
  value     jsonb,  -- null deletes the row
  via       uuid,
  depth     integer,
  stated    boolean
) on commit delete rows;
create temporary table if not exists new_statements (
  asset_id uuid not null,
  body     jsonb not null
) on commit delete rows;
