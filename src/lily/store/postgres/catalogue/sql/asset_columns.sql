id::text, qualified_name, version,
to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
source, source_at, source_clocks, enriched, enriched_at, enriched_clocks, "user", user_at, user_clocks, awaits_lake,
assets.id as asset_id, parent::uuid as parent_id
