"""Assets: merging events into them, reading, searching, their history."""
