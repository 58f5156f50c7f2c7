"""Types of Trino's columns, as its OPA plug-in writes them: parsed, so that what is placed into a query is a type and
nothing else."""

import re
from dataclasses import dataclass
from typing import Literal

from lily.enforce.trino.identifiers import quoted

Family = Literal["text", "integer", "decimal", "floating", "boolean", "date", "timestamp", "uuid", "binary", "other"]

MAX_LENGTH = 20_000  # characters; the type of a row has all its fields in it
MAX_DEPTH = 50
_FAMILIES: dict[str, Family] = {
    "varchar": "text",
    "char": "text",
    "tinyint": "integer",
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "decimal": "decimal",
    "double": "floating",
    "real": "floating",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "uuid": "uuid",
    "varbinary": "binary",
}
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_SIMPLE = re.compile(rf"({_WORD})(?:\((\d+(?:,\s*\d+)?)\))?( with time zone)?")
_INTERVAL = re.compile(r"interval (day to second|year to month)")
_NESTED = re.compile(rf"({_WORD})\(")
_MARK = re.compile(r'[(),"]')
_FIELD = re.compile(rf'({_WORD}|"(?:[^"]|"")+") (.+)', re.DOTALL)
_ZONED = frozenset({"time", "timestamp"})
_CONTAINERS = frozenset({"array", "map", "row", "function", "setdigest", "qdigest"})


@dataclass(frozen=True, slots=True)
class ColumnType:
    """`sql` is the type as Trino's parser reads it."""

    sql: str
    family: Family = "other"

    @property
    def is_instant(self) -> bool:
        """Whether it has a year and a month."""
        return self.family in ("date", "timestamp")


def parse_type(text: str) -> ColumnType | None:
    """None for what cannot be written into a query without a doubt, such as a row with a field called `a b`, which the
    plug-in does not quote."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        return _Parser(text).parsed(0, len(text), MAX_DEPTH)
    except ValueError:
        return None


class _Parser:
    """Of one type. The parentheses are found once, so that the time does not grow with their depth."""

    def __init__(self, text: str) -> None:
        self._text, self._parentheses = text, _parentheses(text)

    def parsed(self, begin: int, end: int, depth: int) -> ColumnType:
        """The type between two places. Raises ValueError."""
        text, begin, end = self._text, *self._trimmed(begin, end)
        simple = _SIMPLE.fullmatch(text, begin, end)
        if simple is not None and (not simple[3] or simple[1].lower() in _ZONED):
            return ColumnType(simple[0], _FAMILIES.get(simple[1].lower(), "other"))
        if _INTERVAL.fullmatch(text, begin, end):
            return ColumnType(text[begin:end])
        nested = _NESTED.match(text, begin, end)
        if not depth or nested is None or nested[1].lower() not in _CONTAINERS:
            raise _unknown(text)
        *commas, closed = self._parentheses[nested.end() - 1]
        if closed != end - 1:
            raise _unknown(text)
        starts = (nested.end(), *(comma + 1 for comma in commas))
        parts = zip(starts, (*commas, closed), strict=True)
        written = [self._parameter(nested[1], *part, depth - 1) for part in parts]
        return ColumnType(f"{nested[1]}({', '.join(written)})")

    def _parameter(self, container: str, begin: int, end: int, depth: int) -> str:
        """A field of a row is a type, or a name and a type. The plug-in does not quote names; words of SQL need it."""
        begin, end = self._trimmed(begin, end)
        field = _FIELD.fullmatch(self._text, begin, end) if container.lower() == "row" else None
        if field is None or self._is_type(begin, end):
            return self.parsed(begin, end, depth).sql
        name = field[1] if field[1].startswith('"') else quoted(field[1])
        return f"{name} {self.parsed(*field.span(2), depth).sql}"

    def _is_type(self, begin: int, end: int) -> bool:
        """Whether it is one of the types that consist of several words."""
        if _INTERVAL.fullmatch(self._text, begin, end):
            return True
        simple = _SIMPLE.fullmatch(self._text, begin, end)
        return simple is not None and simple[3] is not None

    def _trimmed(self, begin: int, end: int) -> tuple[int, int]:
        while begin < end and self._text[begin].isspace():
            begin += 1
        while begin < end and self._text[end - 1].isspace():
            end -= 1
        return begin, end


def _parentheses(text: str) -> dict[int, list[int]]:
    """By the place of each opening parenthesis, where its commas are and, last, where it is closed. Raises ValueError
    if they or the quotes do not match."""
    found: dict[int, list[int]] = {}
    inside: list[list[int]] = []
    is_quoted = False
    for mark in _MARK.finditer(text):
        if mark[0] == '"':
            is_quoted = not is_quoted
        elif not is_quoted and mark[0] == "(":
            inside.append(found.setdefault(mark.start(), []))
        elif not is_quoted:
            if not inside:
                raise _unknown(text)
            inside[-1].append(mark.start())
            if mark[0] == ")":
                inside.pop()
    if inside or is_quoted:
        raise _unknown(text)
    return found


def _unknown(text: str) -> ValueError:
    return ValueError(f"{text[:200]!r} is not a type of Trino")
