"""`postgres`: column privileges, masking views and row-level security in a PostgreSQL database.

decisions → access (per role and column) → views, row security and privileges, compared with what the catalogue shows.
docs/decisions/0026-what-lily-changes-in-a-postgresql-target.md describes the layout and the reasons for it.
"""

from lily.connect.enforcers.postgres.enforcer import Postgres, PostgresConfig

__all__ = ["Postgres", "PostgresConfig"]
