"""Deletes what has grown old and is not needed, a few thousand rows per transaction."""
