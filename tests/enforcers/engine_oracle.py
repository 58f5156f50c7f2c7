"""What the policy engine decides for the roles of a target, and what a person should therefore see of a table.

Written against the meaning of policies alone: it knows nothing of privileges, views or row-level security.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from lily.plugins import Decision, Inventory, TargetRole
from lily.policy import Ancestor, Facts, Mask, PolicyIndex, Principal, RowFilter
from lily.policy import Decision as Decided

REFUSED = "refused"
HASH_OF_THE_QUERY = "a hash of the query"
# What the columns show for a fixed value that the policy does not name. The email holds 40 characters.
FIXED: Mapping[str, Any] = {
    "id": 0,
    "name": "xxxx",
    "email": "xxxx",
    "country": "xxxx",
    "born": date(1970, 1, 1),
    "seen": datetime(1970, 1, 1, tzinfo=UTC),
}
Row = Mapping[str, Any]


def principal(role: TargetRole) -> Principal:
    if role.login:
        return Principal(role.name, role.member_of, role.member_of)
    return Principal("", (role.name, *role.member_of), (role.name, *role.member_of))


@dataclass(frozen=True)
class Engine:
    """The policies of a tenant, and the tags of its assets by qualified name."""

    index: PolicyIndex
    tags: Mapping[str, Sequence[str]]

    def decide(self, role: TargetRole, path: Sequence[str]) -> Decided:
        names = [".".join(path[: length + 1]) for length in range(len(path))]
        ancestors = tuple(Ancestor(name, name) for name in names[:-1])
        inherited = {tag for name in names for tag in self.tags.get(name, ())}
        return self.index.decide(
            principal(role), "READ", Facts(names[-1], names[-1], "column", "", ancestors, inherited)
        )

    def decisions(self, inventory: Inventory) -> Iterator[Decision]:
        """For every role, table and column, one by one: the target has to find what they have in common."""
        for role in inventory.roles:
            for table in inventory.tables if not role.unrestricted else ():
                yield _stated(self.decide(role, table.path), role, table.path)
                for column in table.columns:
                    decided = self.decide(role, (*table.path, column.name))
                    yield _stated(decided, role, table.path, column.name)

    def seen(
        self, role: TargetRole, path: Sequence[str], columns: Sequence[str], rows: Sequence[Row], *, masks: bool
    ) -> list[tuple[Any, ...]] | str:
        """What a query shows. Without masks it is the table itself, which cannot mask: it refuses instead."""
        filters = self.decide(role, path).row_filters
        cells = [_cell(self.decide(role, (*path, column)), filters) for column in columns]
        if any(cell is None or not (masks or cell.is_clear) for cell in cells):
            return REFUSED
        shown = [row for row in rows if all(passes(one, row) for one in filters)]
        return [tuple(c.shown(row, name) for c, name in zip(cells, columns, strict=True) if c) for row in shown]


@dataclass(frozen=True)
class Seen:
    mask: Mask | None
    filters: tuple[RowFilter, ...]

    @property
    def is_clear(self) -> bool:
        return self.mask is None and not self.filters

    def shown(self, row: Row, column: str) -> Any:
        if not all(passes(one, row) for one in self.filters):
            return None
        value = row[column] if self.mask is None else masked(self.mask, row[column], column)
        return value[:40] if column == "email" and value else value


def _cell(decided: Decided, of_table: tuple[RowFilter, ...]) -> Seen | None:
    if not decided.allowed:
        return None
    return Seen(decided.mask, tuple(one for one in decided.row_filters if one not in of_table))


def _stated(decided: Decided, role: TargetRole, path: tuple[str, ...], column: str = "") -> Decision:
    mask = decided.mask
    return Decision(
        ".".join((*path, column)) if column else ".".join(path),
        path,
        (role.name,),
        decided.effect,
        column,
        mask=mask.action if mask else "",
        mask_value=mask.value if mask else None,
        row_filters=tuple(one.sql for one in decided.row_filters),
    )


FILTERS: Mapping[str, Callable[[Row], Any]] = {
    "country = 'DE'": lambda row: row["country"] == "DE",
    "Id < 3": lambda row: row["id"] < 3,
    "born IS NULL OR name LIKE 'A%'": lambda row: row["born"] is None or str(row["name"]).startswith("A"),
    "NOT email IS NULL": lambda row: row["email"] is not None,
}


def passes(row_filter: RowFilter, row: Row) -> bool:
    return bool(FILTERS[row_filter.sql](row))


def masked(mask: Mask, value: Any, column: str) -> Any:
    if mask.action == "mask-to-fixed-value":
        return _fixed(mask.value, FIXED[column])
    if value is None or mask.action == "replace-with-null":
        return None
    if mask.action.startswith("truncate"):
        return _truncated(mask.action, value)
    return _masked_text(mask.action, value) if isinstance(value, str) else None


def _fixed(value: Any, default: Any) -> Any:
    if value is None:
        return default
    if isinstance(default, str):
        return str(value)
    return value if isinstance(default, int) and isinstance(value, int) else None


def _truncated(action: str, value: Any) -> Any:
    if not isinstance(value, date):
        return None
    first = value.replace(day=1) if action.endswith("month") else value.replace(month=1, day=1)
    return first.replace(hour=0, minute=0, second=0, microsecond=0) if isinstance(first, datetime) else first


def _masked_text(action: str, value: str) -> str:
    if action == "mask-alphanum":
        return re.sub("[0-9]", "n", re.sub(r"[^\W0-9_]", "x", value))
    if action == "sha-256-global":
        return hashlib.sha256(value.encode()).hexdigest()
    if action == "sha-256-query-local":
        return HASH_OF_THE_QUERY
    if len(value) <= 4:
        return "x" * len(value)
    hidden = "x" * (len(value) - 4)
    return value[:4] + hidden if action == "show-first-4" else hidden + value[-4:]
