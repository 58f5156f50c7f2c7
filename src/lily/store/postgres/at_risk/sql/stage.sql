-- What the function `spread_risk` has reached. The table lives as long as the connection.
create temporary table if not exists risk_reached (
  incident_id uuid not null,
  asset_id    uuid not null,
  via         uuid,
  inherited   boolean not null,  -- walked through, not stored
  primary key (incident_id, asset_id)
) on commit delete rows
