"""Targets that Lily brings in line with its decisions, and their receipts."""
