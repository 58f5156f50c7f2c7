"""The hot query: the log into PostgreSQL, about a second behind."""
