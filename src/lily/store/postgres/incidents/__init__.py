"""Incidents in PostgreSQL: merged statements, the assets they concern, their history, and what is read of them."""
