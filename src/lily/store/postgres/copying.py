"""Sends many rows to PostgreSQL at once: lines of COPY's text format, and array literals."""

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection, sql

LINES_PER_WRITE = 500  # fewer cost more calls, more cost memory
NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_lines(connection: Connection[Any], target: str, lines: Sequence[str]) -> None:
    """Copies lines into a table. `target` is `table` or `table (column, …)`."""
    if not lines:
        return
    with connection.cursor().copy(sql.SQL("copy {} from stdin").format(sql.SQL(target))) as copy:
        for start in range(0, len(lines), LINES_PER_WRITE):
            copy.write("".join(lines[start : start + LINES_PER_WRITE]))


def line(*values: str) -> str:
    """A line of values that need no escaping: ids, tenant names, times."""
    return "\t".join(values) + "\n"


def escaped(text: str) -> str:
    """Any text as a value in COPY's text format."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


def escaped_json(text: str) -> str:
    """JSON as a value in COPY's text format. JSON escapes control characters itself, so only backslashes remain."""
    return text.replace("\\", "\\\\") if "\\" in text else text


def id_array(ids: Iterable[str]) -> str:
    """An array literal of ids or tenant names, which need no escaping. It is quoted once and not once per item."""
    return f"{{{','.join(ids)}}}"


def text_array(texts: Iterable[str | None]) -> str:
    """An array literal of any texts."""
    return f"{{{','.join(map(_item, texts))}}}"


def _item(text: str | None) -> str:
    if text is None:
        return "NULL"
    if '"' in text or "\\" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
