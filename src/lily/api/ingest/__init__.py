"""Writes: builds events from requests, and appends them to the log."""
