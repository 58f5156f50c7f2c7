"""A connector for Lily: the tables, views and columns of a SQLite database, and which view reads which table."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lily.model.errors import Terminal, Transient
from lily.plugins import SourceAsset, SourceEdge, SourceItem

TABLES = "select type, name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%' order by 2"
COLUMNS = "select name, type, cid from pragma_table_info(?) order by cid"


class SqliteConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Path
    database: str | None = None  # its name in Lily; default: the name of the file


class Sqlite:
    Config = SqliteConfig

    def __init__(self, config: SqliteConfig) -> None:
        self._path = config.path
        self._database = config.database or config.path.stem
        self._connection: sqlite3.Connection | None = None

    def check(self) -> None:
        with self._reading() as connection:
            connection.execute(TABLES).fetchone()

    def read(self) -> Iterator[SourceItem]:
        with self._reading() as connection:
            yield SourceAsset("database", {"name": self._database, "qualified_name": self._database})
            for kind, table in connection.execute(TABLES).fetchall():
                name = f"{self._database}.{table}"
                yield SourceAsset(kind, {"name": table, "qualified_name": name, "parent": self._database})
                for column, data_type, position in connection.execute(COLUMNS, [table]):
                    stated = {"name": column, "qualified_name": f"{name}.{column}", "parent": name}
                    yield SourceAsset("column", {**stated, "data_type": data_type, "ordinal_position": position})
                if kind == "view":
                    for source in sorted(tables_read(connection, table)):
                        yield SourceEdge(f"{self._database}.{source}", name)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """SQLite's errors as Lily's: a lock goes away by itself, anything else does not."""
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)
            yield self._connection
        except sqlite3.Error as error:
            kind = Transient if "locked" in str(error) else Terminal
            raise kind(f"{self._path} cannot be read: {error}. Correct `path` in the recipe, or try again.") from error


def tables_read(connection: sqlite3.Connection, view: str) -> set[str]:
    """What a view reads directly: SQLite asks an authorizer about every table while it prepares a query."""
    found: set[str] = set()

    def note(action: int, table: str | None, _column: str | None, _schema: str | None, reader: str | None) -> int:
        if action == sqlite3.SQLITE_READ and table and reader == view:
            found.add(table)
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    try:
        quoted = view.replace('"', '""')
        connection.execute(f'explain select * from "{quoted}"')  # noqa: S608 - quoted, and prepared only
    finally:
        connection.set_authorizer(None)
    return found - {view}
