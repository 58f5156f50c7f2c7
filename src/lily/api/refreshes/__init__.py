"""Runs of refreshes as scrapers may take them and report about them."""
