"""Assets: ingest, read, search, edit; their tags, attributes and history."""
