"""Reads that more than one route shares: references, past states, pages of lineage."""
