id::text, qualified_name, version, created_at, updated_at,
source, source_at, source_clocks, enriched, enriched_at, enriched_clocks, "user", user_at, user_clocks
