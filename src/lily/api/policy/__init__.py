"""Decisions of the API: the compiled policies of each tenant, the assets and principals they are about, and the log."""
