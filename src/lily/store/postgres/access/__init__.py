"""Tenants, tokens, WebSocket tickets and secrets."""
