"""Assets: merging events, reading, searching, and their history."""
