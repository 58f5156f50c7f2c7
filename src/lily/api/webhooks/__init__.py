"""Webhooks of other systems: whose they are, whether they are signed, and their way into the log."""
