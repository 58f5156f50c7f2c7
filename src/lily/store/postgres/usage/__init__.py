"""Usage of assets: queries per day, counted once however often the log delivers an event."""
