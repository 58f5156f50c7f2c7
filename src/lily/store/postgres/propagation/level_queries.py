"""Queries for one level of a search along the edges that a tag passes: forward, or back to its origins."""

from functools import cache

from psycopg import sql

from lily.store.postgres.queries import query


@cache
def forward_query() -> sql.Composed:
    """The assets that the tag would reach from some assets, one step on."""
    return _level("propagation/dry_run_level", here="from_id", there="to_id")


@cache
def backward_query() -> sql.Composed:
    """The assets from which some assets may have the tag, one step back."""
    return _level("propagation/origins_level", here="to_id", there="from_id")


@cache
def region_query() -> sql.Composed:
    """The steps that the tag could take from some assets, and what of the tag the assets there have themselves."""
    return _level("propagation/region_level", here="from_id", there="to_id")


@cache
def offers_query() -> sql.Composed:
    """What assets outside of a region offer to those in it."""
    return _level("propagation/region_offers", here="to_id", there="from_id")


def _level(name: str, *, here: str, there: str) -> sql.Composed:
    edge_neighbours = sql.SQL(query("propagation/edge_neighbours")).format(
        here=sql.Identifier(here), there=sql.Identifier(there)
    )
    return sql.SQL(query(name)).format(edge_neighbours=edge_neighbours)
