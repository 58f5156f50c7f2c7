"""The columns of a table as the catalogue has them: their names, and whether they are all there are, in order."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from lily.model import ids

Column = TypeVar("Column")


def column_name(fields: Mapping[str, Any], qualified_name: str, table: str) -> str:
    """In lower case. Of what is named directly below its table that name counts: the attribute can be stated to be
    anything, and the column of a copy would have another one."""
    if ids.name_prefix(qualified_name) == table:
        return ids.own_name(qualified_name).lower()
    return str(fields.get("name") or qualified_name.rpartition(".")[2]).lower()


def in_order(
    found: Sequence[tuple[Mapping[str, Any], Column]],
) -> tuple[list[tuple[Mapping[str, Any], Column]], bool]:
    """The columns, each after its attributes. In the table's order if their positions show that none is missing, and
    whether that is so."""
    if not _is_complete([fields.get("ordinal_position") for fields, _ in found]):
        return list(found), False
    return sorted(found, key=lambda entry: entry[0]["ordinal_position"]), True


def _is_complete(positions: list[Any]) -> bool:
    """Whether no column is missing: their positions are 1, 2, 3 and so on, or begin at 0."""
    numbers = sorted(position for position in positions if type(position) is int)
    start = numbers[0] if numbers else -1
    return bool(positions) and start in {0, 1} and numbers == list(range(start, start + len(positions)))
