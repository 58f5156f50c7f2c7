"""Definitions of a tenant: tags, propagation rules and settings."""
