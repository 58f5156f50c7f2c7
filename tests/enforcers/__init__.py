"""Enforcers against real targets: a PostgreSQL with roles, tables and people who query them."""
