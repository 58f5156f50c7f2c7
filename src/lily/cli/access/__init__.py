"""Tenants, tokens, users, keys, policies and their enforcement: who may do what."""
