"""Named SQL: `query("catalogue/merge")` is the text of `catalogue/sql/merge.sql`, and `query("policies/facts/by_name")`
that of `policies/sql/facts/by_name.sql`."""

from functools import cache
from importlib import resources
from typing import LiteralString

from psycopg import sql

import lily.store.postgres.json_codec  # noqa: F401 - registers the JSON codec for all code that runs queries
from lily.model.assets import LayerName


@cache
def query(name: str) -> LiteralString:
    subject, _, file = name.partition("/")
    # The files are part of the package, so their text can be trusted like a literal.
    return resources.files(__package__).joinpath(subject, "sql", f"{file}.sql").read_text()  # type: ignore[return-value,unused-ignore]


@cache
def layer_query(name: str, layer: LayerName) -> sql.Composed:
    """A query about one layer of assets or edges. `{values}`, `{at}` and `{clocks}` are that layer's columns,
    `{set_merged}` assigns a merged layer, `{change}` returns an edge's effective state before and after, and `{audit}`
    records what it no longer conducts."""
    columns = {
        "values": sql.Identifier(layer),
        "at": sql.Identifier(f"{layer}_at"),
        "clocks": sql.Identifier(f"{layer}_clocks"),
    }
    set_merged = sql.SQL(query("layers/set_merged")).format(**columns)
    change, audit = sql.SQL(query("edges/change_columns")), sql.SQL(query("edges/audit"))
    return sql.SQL(query(name)).format(**columns, set_merged=set_merged, change=change, audit=audit)
