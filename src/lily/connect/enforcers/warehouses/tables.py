"""What each subject may see of each table, from the decisions of one target."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lily.connect.enforcers.access import CLEAR, DENIED, Cell, Filters, combined
from lily.connect.enforcers.warehouses.types import ColumnType
from lily.plugins import Decision, Finding
from lily.plugins.enforcers import Path

WITHDRAWN = "withdrawn"
_NOUNS = {"view": "VIEW", "materialized_view": "MATERIALIZED VIEW"}


class Subject(NamedTuple):
    """A user, group or role of the warehouse."""

    kind: str
    name: str


class Column(NamedTuple):
    name: str
    type: ColumnType | None  # None: not known


class Sight(NamedTuple):
    """What a subject sees: the rows that pass all `filters`, and of each column of the table what its cell says."""

    cells: tuple[Cell, ...]
    filters: Filters = ()
    denied: bool = False


@dataclass(slots=True)
class WarehouseTable:
    """`columns` are those that somebody sees otherwise than the rest of the table; `released` were such earlier.

    A subject that is not listed sees nothing. One that several listed subjects match, such as a member of two groups,
    sees what the strictest of them sees.
    """

    path: Path
    columns: tuple[Column, ...] = ()
    sights: dict[Subject, Sight] = field(default_factory=dict)
    types: dict[str, ColumnType | None] = field(default_factory=dict)  # of all columns that Lily knows
    released: tuple[str, ...] = ()
    is_withdrawn: bool = False
    kind: str = ""  # as the catalogue calls it
    findings: list[Finding] = field(default_factory=list)

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def noun(self) -> str:
        """What DDL calls it."""
        return _NOUNS.get(self.kind, "TABLE")

    def note(self, description: str) -> None:
        self.findings.append(Finding(self.name, description))


class Needs(NamedTuple):
    """What a warehouse has to know. `usable` returns why it cannot use a row filter, empty if it can."""

    parse_type: Callable[[str], ColumnType | None]
    usable: Callable[[str, Mapping[str, ColumnType | None]], str]
    types: bool  # a mask needs the column's type


def warehouse_tables(decisions: Sequence[Decision], needs: Needs) -> list[WarehouseTable]:
    by_table: dict[Path, list[Decision]] = defaultdict(list)
    for decision in decisions:
        by_table[decision.table].append(decision)
    return [_table(path, by_table[path], needs) for path in sorted(by_table)]


def _table(path: Path, decisions: Sequence[Decision], needs: Needs) -> WarehouseTable:
    gone = [one for one in decisions if one.effect == WITHDRAWN]
    stated = [one for one in decisions if one.effect != WITHDRAWN]
    released = tuple(sorted({one.column for one in gone if one.column} - {one.column for one in stated}))
    kind = next((one.table_kind for one in decisions if one.table_kind), "")
    if not stated:
        whole = any(not one.column for one in gone)
        return WarehouseTable(path, released=released, is_withdrawn=whole, kind=kind)
    known = {column.name: column.type for one in stated for column in one.columns}
    own = {one.column: one.column_type for one in stated if one.column}
    types = {name: needs.parse_type(kind) for name, kind in sorted((known | own).items())}
    columns = tuple(Column(name, types[name]) for name in sorted(own))
    table = WarehouseTable(path, columns, types=types, released=released, kind=kind)
    for subject, decided in _by_subject(stated).items():
        table.sights[subject] = _sight(table, decided, needs)
    _note_unknown_types(table, needs)
    return table


def _by_subject(decisions: Sequence[Decision]) -> dict[Subject, list[Decision]]:
    found: dict[Subject, list[Decision]] = defaultdict(list)
    for decision in decisions:
        kinds = decision.kinds or ("role",) * len(decision.principals)
        for name, kind in zip(decision.principals, kinds, strict=True):
            found[Subject(kind, name)].append(decision)
    return dict(sorted(found.items()))


def _sight(table: WarehouseTable, decisions: Sequence[Decision], needs: Needs) -> Sight:
    nothing = Sight((DENIED,) * len(table.columns), denied=True)
    default, filters = combined([one for one in decisions if not one.column])
    for reason in filter(None, (needs.usable(one, table.types) for one in filters)):
        table.note(f"those with a row filter see no rows: {reason}")
        return nothing
    if default.denied:
        return nothing
    if default.mask:
        table.note(
            "those for whom the whole table is masked see no rows: only some of its columns are known to Lily; tag the "
            "columns instead of the table"
        )
        return nothing
    cells = tuple(_cell(table, column.name, decisions, filters) for column in table.columns)
    if needs.types and any(
        not cell.is_clear and not column.type for cell, column in zip(cells, table.columns, strict=True)
    ):
        return nothing
    return Sight(cells, filters)


def _cell(table: WarehouseTable, column: str, decisions: Sequence[Decision], of_table: Filters) -> Cell:
    own = [one for one in decisions if one.column == column]
    if not own:
        return CLEAR
    cell, filters = combined(own)
    if any(one not in of_table for one in filters):
        table.note(f"the column {column!r} is NULL for those with a row filter of its own, in every row")
        return DENIED
    return cell


def _note_unknown_types(table: WarehouseTable, needs: Needs) -> None:
    for column in table.columns:
        if needs.types and column.type is None:
            table.note(
                f"those for whom the column {column.name!r} is restricted see no rows: its type is not known; ingest "
                "the column with the attribute `data_type`"
            )


def by_cell(table: WarehouseTable, place: int) -> Iterator[tuple[Cell, list[Subject]]]:
    """The cells of one column, with the subjects that have each. Those who see no rows are left out."""
    found: dict[Cell, list[Subject]] = defaultdict(list)
    for subject, sight in table.sights.items():
        if not sight.denied:
            found[sight.cells[place]].append(subject)
    yield from found.items()
