"""Writes: what callers send becomes events, and the events are appended to the log."""
