"""Channels against servers that speak the vendors' documented protocols and verify what the vendors verify."""
