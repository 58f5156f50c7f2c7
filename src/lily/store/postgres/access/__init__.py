"""Tenants, tokens, users, WebSocket tickets and secrets."""
