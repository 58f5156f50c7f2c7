"""Queries that show incidents with their assets."""

from functools import cache

from psycopg import sql

from lily.store.postgres.queries import query

MAX_ASSETS = 1_000  # of one incident, at the most


@cache
def with_assets(name: str) -> sql.Composed:
    """The query with `{assets}` filled in: the parameter `assets` limits them."""
    return sql.SQL(query(name)).format(assets=sql.SQL(query("incidents/reading/shown_assets")))
