"""How many rows go to PostgreSQL at once: lines of COPY's text format, and array literals."""

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection, sql

AT_ONCE = 500  # lines in one message: fewer cost more calls, more cost memory
NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_lines(connection: Connection[Any], target: str, lines: Sequence[str]) -> None:
    """Copies lines into a table, or into some of its columns: `target` is `table` or `table (column, …)`."""
    if not lines:
        return
    with connection.cursor().copy(sql.SQL("copy {} from stdin").format(sql.SQL(target))) as copy:
        for start in range(0, len(lines), AT_ONCE):
            copy.write("".join(lines[start : start + AT_ONCE]))


def line(*values: str) -> str:
    """A line of values that need no escaping: ids, names of tenants, times."""
    return "\t".join(values) + "\n"


def escaped(text: str) -> str:
    """Any text as a value of COPY's text format."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


def escaped_json(text: str) -> str:
    """JSON as a value of COPY's text format: JSON escapes control characters itself, so only backslashes are left."""
    return text.replace("\\", "\\\\") if "\\" in text else text


def id_array(ids: Iterable[str]) -> str:
    """An array literal of ids or names of tenants, which need no escaping: one value to quote instead of one per
    item."""
    return f"{{{','.join(ids)}}}"
