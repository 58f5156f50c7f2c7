"""Writes: builds events from what callers send, and appends them to the log."""
