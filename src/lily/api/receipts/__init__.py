"""Receipts of writes, and waiting until a write can be read."""
