"""The serving store. SQL lives in `sql/` and `migrations/`, apart from the code that knows what it means."""
