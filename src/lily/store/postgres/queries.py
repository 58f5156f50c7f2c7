"""Named SQL: `query("merge")` is the text of `sql/merge.sql`."""

from functools import cache
from importlib import resources
from typing import LiteralString

from psycopg import sql

import lily.store.postgres.codec  # noqa: F401 - whoever has queries has JSON to exchange
from lily.model.assets import LayerName


@cache
def query(name: str) -> LiteralString:
    # The files ship with the package, so their text is as trusted as a literal.
    return resources.files(__package__).joinpath("sql", f"{name}.sql").read_text()  # type: ignore[return-value,unused-ignore]


@cache
def layer_query(name: str, layer: LayerName) -> sql.Composed:
    """A query about one layer: `{values}`, `{at}` and `{clocks}` are that layer's columns."""
    return sql.SQL(query(name)).format(
        values=sql.Identifier(layer), at=sql.Identifier(f"{layer}_at"), clocks=sql.Identifier(f"{layer}_clocks")
    )
