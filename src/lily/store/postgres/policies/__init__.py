"""Policies, roles, users, scraper policies, engine mappings and the settings of decisions, with their history; what
decisions need to know of assets; and the log of decisions."""
