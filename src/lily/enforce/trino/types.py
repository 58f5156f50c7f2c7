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
_NESTED = re.compile(rf"({_WORD})\((.*)\)", re.DOTALL)
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
    try:
        return _parsed(text.strip(), MAX_DEPTH) if len(text) <= MAX_LENGTH else None
    except ValueError:
        return None


def _parsed(text: str, depth: int) -> ColumnType:
    if not depth:
        raise _unknown(text)
    simple = _SIMPLE.fullmatch(text)
    if simple is not None:
        name = simple[1].lower()
        if simple[3] and name not in _ZONED:
            raise _unknown(text)
        return ColumnType(text, _FAMILIES.get(name, "other"))
    if _INTERVAL.fullmatch(text):
        return ColumnType(text)
    nested = _NESTED.fullmatch(text)
    if nested is None or nested[1].lower() not in _CONTAINERS:
        raise _unknown(text)
    written = [_parameter(nested[1], part, depth - 1) for part in _split(nested[2])]
    return ColumnType(f"{nested[1]}({', '.join(written)})")


def _parameter(container: str, part: str, depth: int) -> str:
    """A field of a row is a type, or a name and a type. The plug-in does not quote names; words of SQL need it."""
    if container.lower() != "row":
        return _parsed(part, depth).sql
    field = _FIELD.fullmatch(part)
    if field is None or _is_type(part):
        return _parsed(part, depth).sql
    name = field[1] if field[1].startswith('"') else quoted(field[1])
    return f"{name} {_parsed(field[2].strip(), depth).sql}"


def _is_type(text: str) -> bool:
    """Whether it is one of the types that consist of several words."""
    return bool(_INTERVAL.fullmatch(text)) or (text.endswith(" with time zone") and bool(_SIMPLE.fullmatch(text)))


def _split(text: str) -> list[str]:
    """At the commas outside parentheses and quotes. Raises ValueError if they do not match."""
    parts, begin, depth, is_quoted = [], 0, 0, False
    for place, character in enumerate(text):
        if character == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (character == "(") - (character == ")")
            if character == "," and not depth:
                parts.append(text[begin:place].strip())
                begin = place + 1
        if depth < 0:
            break
    if depth or is_quoted:
        raise _unknown(text)
    return [*parts, text[begin:].strip()]


def _unknown(text: str) -> ValueError:
    return ValueError(f"{text[:200]!r} is not a type of Trino")
