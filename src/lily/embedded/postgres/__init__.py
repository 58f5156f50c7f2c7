"""The embedded PostgreSQL: `cluster` prepares its files, `server` runs it."""

from lily.embedded.postgres.server import Postgres

__all__ = ["Postgres"]
