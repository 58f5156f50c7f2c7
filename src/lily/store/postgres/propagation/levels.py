"""One level of a walk along the edges that let a tag pass: forwards for a dry run, backwards to its origins."""

from functools import cache

from psycopg import sql

from lily.store.postgres.queries import query


@cache
def forwards() -> sql.Composed:
    """What the tag would reach from some assets, one step on."""
    return _level("propagation/dry_run_level", here="from_id", there="to_id")


@cache
def backwards() -> sql.Composed:
    """Where some assets may have the tag from, one step back."""
    return _level("propagation/origins_level", here="to_id", there="from_id")


def _level(name: str, *, here: str, there: str) -> sql.Composed:
    along_edges = sql.SQL(query("propagation/along_edges")).format(
        here=sql.Identifier(here), there=sql.Identifier(there)
    )
    return sql.SQL(query(name)).format(along_edges=along_edges)
