"""Lineage: edges, where they come from, the graph around an asset, and the receipts of writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import Call, path
from lily.client.encoding import encoded
from lily.client.results import Direction, Graph, LineageTaken, Related, SqlLineage, Travel


def relate(edges: Sequence[Mapping[str, Any]], *, wait: int | None = None) -> Call[Related]:
    """Writes edges to the user layer, each `{from, to, relationship_type, propagates?, masking?}`: all or none.

    With `wait` (seconds), returns as soon as they can be read and tags have propagated along them.
    """
    return Call("POST", "/lineage", parsing.related, content=encoded({"edges": list(edges)}), wait=wait)


def unrelate(edges: Sequence[Mapping[str, Any]], *, wait: int | None = None) -> Call[Related]:
    """Deletes edges, each `{from, to, relationship_type}`. An edge that a protective tag uses needs policy:write."""
    return Call("DELETE", "/lineage", parsing.related, content=encoded({"edges": list(edges)}), wait=wait)


def relate_by_sql(
    sql: str,
    dialect: str,
    *,
    default_database: str | None = None,
    default_schema: str | None = None,
    dry_run: bool = False,
    wait: int | None = None,
) -> Call[SqlLineage]:
    """Derives edges from a SQL script and stores them, unless it is a dry run: those of a definition replace the edges
    of the earlier one, all others are added to the source layer."""
    body = {"sql": sql, "dialect": dialect, "dry_run": dry_run}
    body |= {"default_database": default_database, "default_schema": default_schema}
    return Call("POST", "/lineage/sql", parsing.sql_lineage, content=encoded(body), wait=wait)


def take_lineage(event: Mapping[str, Any], *, wait: int | None = None) -> Call[LineageTaken]:
    """Sends one OpenLineage event: a run, a job or a dataset."""
    return Call("POST", "/api/v1/lineage", parsing.lineage_taken, content=encoded(event), wait=wait)


def lineage(
    id_or_name: str,
    *,
    direction: Direction = "downstream",
    depth: int = 3,
    remove_deleted: bool = False,
    columns: bool = False,
    limit: int = 1_000,
    cursor: str | None = None,
) -> Call[Graph]:
    """Returns the graph around an asset, nearest first; pass its `next_cursor` as `cursor` for the next edges."""
    params = {"direction": direction, "depth": str(depth), "limit": str(limit)}
    params |= {name: "true" for name, given in (("remove_deleted", remove_deleted), ("columns", columns)) if given}
    if cursor is not None:
        params["cursor"] = cursor
    return Call("GET", path("lineage", id_or_name), parsing.one(parsing.record(Graph)), params)


def travel(receipt: str) -> Call[Travel]:
    """Returns the state of a write by its receipt, and how many assets gained or lost a tag by it."""
    return Call("GET", path("propagations", receipt), parsing.one(parsing.record(Travel)))
