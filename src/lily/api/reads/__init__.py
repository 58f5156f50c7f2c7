"""Reads that several routes share: assets by reference, past states, pages of lineage."""
