"""The calls about the lineage graph, each described once, as those of `calls`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from lily.client import reading
from lily.client.answers import Graph, LineageTaken, Related, SqlLineage, Travel
from lily.client.call import Call
from lily.client.calls import JSON, encoded, prefer


def relate(edges: Sequence[Mapping[str, Any]], *, wait: int | None = None) -> Call[Related]:
    """States edges as a person, each `{from, to, relationship_type, propagates?, masking?}`: all of them or none.

    With `wait` seconds, returns as soon as they can be read and tags have travelled along them.
    """
    return _write("POST", "/lineage", reading.related, {"edges": list(edges)}, wait)


def unrelate(edges: Sequence[Mapping[str, Any]], *, wait: int | None = None) -> Call[Related]:
    """Deletes edges, each `{from, to, relationship_type}`. One that a protective tag passes needs policy:write."""
    return _write("DELETE", "/lineage", reading.related, {"edges": list(edges)}, wait)


def relate_by_sql(
    sql: str,
    dialect: str,
    *,
    default_database: str | None = None,
    default_schema: str | None = None,
    dry_run: bool = False,
    wait: int | None = None,
) -> Call[SqlLineage]:
    """The edges that a script states, stored as a source's unless it is a dry run."""
    body = {
        "sql": sql,
        "dialect": dialect,
        "default_database": default_database,
        "default_schema": default_schema,
        "dry_run": dry_run,
    }
    return _write("POST", "/lineage/sql", reading.sql_lineage, body, wait)


def take_lineage(event: Mapping[str, Any], *, wait: int | None = None) -> Call[LineageTaken]:
    """Takes one event of OpenLineage: a run, a job or a dataset."""
    return _write("POST", "/api/v1/lineage", reading.lineage_taken, event, wait)


def lineage(
    id_or_name: str,
    *,
    direction: Literal["downstream", "upstream", "both"] = "downstream",
    depth: int = 3,
    remove_deleted: bool = False,
    columns: bool = False,
    limit: int = 1_000,
    cursor: str | None = None,
) -> Call[Graph]:
    """The graph around an asset, nearest first; pass `next_cursor` on for the edges that follow."""
    params = {"direction": direction, "depth": str(depth), "limit": str(limit)}
    params |= {name: "true" for name, given in (("remove_deleted", remove_deleted), ("columns", columns)) if given}
    if cursor is not None:
        params["cursor"] = cursor
    return Call("GET", f"/lineage/{quote(id_or_name, safe='')}", reading.graph, params=params)


def travel(receipt: str) -> Call[Travel]:
    """What became of a write: its state, and how many assets gained or lost a tag by it."""
    return Call("GET", f"/propagations/{quote(receipt, safe='')}", reading.travel)


def _write(method: str, path: str, read: Any, body: Any, wait: int | None) -> Call[Any]:
    return Call(method, path, read, content=encoded(body), headers=JSON | prefer(wait), wait=wait or 0)
