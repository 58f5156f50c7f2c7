"""The hot query: writes the log's events to PostgreSQL, about a second behind."""
