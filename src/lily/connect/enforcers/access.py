"""What each role may see of a table: for its rows the filters, for each column the value, a mask of it, or nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lily.plugins import Decision
from lily.policy import MASK_ACTIONS

Filters = tuple[str, ...]
Value = str | int | float | bool | None  # that `mask-to-fixed-value` shows


class Cell(NamedTuple):
    """What a role sees of one column. `filters` hide the value in the rows that they exclude."""

    denied: bool = False
    mask: str = ""
    value: Value = None
    filters: Filters = ()

    @property
    def is_clear(self) -> bool:
        return not (self.denied or self.mask or self.filters)


CLEAR, DENIED = Cell(), Cell(denied=True)


@dataclass(frozen=True, slots=True)
class Access:
    """What a role sees of a table: the rows that pass all `filters`, and one cell per column, in their order.

    A table has few, shared by many roles, which look it up often: what takes a walk over the columns is kept.
    """

    cells: tuple[Cell, ...]
    filters: Filters = ()
    denied: bool = field(init=False, compare=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "denied", all(cell.denied for cell in self.cells))
        object.__setattr__(self, "_hash", hash((self.cells, self.filters)))

    def __hash__(self) -> int:
        return self._hash


def accesses(decisions: Iterable[Decision], columns: Sequence[str], usable: Callable[[str], bool]) -> dict[str, Access]:
    """By the names of roles. Where a row filter is not usable, what it would have restricted is denied."""
    of_role: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        for role in decision.principals:
            of_role[role].append(decision)
    known: dict[tuple[int, ...], Access] = {}
    found = {}
    for role, own in of_role.items():
        key = tuple(map(id, own))
        if key not in known:
            known[key] = _access(own, columns, usable)
        found[role] = known[key]
    return found


def strictest(several: Iterable[Access]) -> Access:
    """What all of them allow. A column keeps its filters even if the table has the same ones now: they are the row
    filters of one role, and do not apply to members that inherit the privilege on the column from another role."""
    first, *others = several
    for other in others:
        if other is not first:
            cells = tuple(stricter(a, b) for a, b in zip(first.cells, other.cells, strict=True))
            first = _of(cells, union(first.filters, other.filters))
    return first


def _access(decisions: Sequence[Decision], columns: Sequence[str], usable: Callable[[str], bool]) -> Access:
    of_table = [one for one in decisions if not one.column]
    default, filters = combined(of_table)
    own = {one.column: [other for other in decisions if other.column == one.column] for one in decisions if one.column}
    cells = [_own_cell(own[column], filters, usable) if column in own else default for column in columns]
    if not all(map(usable, filters)):
        return Access((DENIED,) * len(columns))
    return _without_repeats(tuple(cells), filters)


def _own_cell(decisions: Sequence[Decision], of_table: Filters, usable: Callable[[str], bool]) -> Cell:
    cell, filters = combined(decisions)
    further = tuple(one for one in filters if one not in of_table)
    return cell._replace(filters=further) if all(map(usable, further)) else DENIED


def combined(decisions: Sequence[Decision]) -> tuple[Cell, Filters]:
    """Several decisions for one role and object: the strictest holds."""
    if not decisions:
        return DENIED, ()
    cells = [_cell(one) for one in decisions]
    strict = cells[0]
    for cell in cells[1:]:
        strict = stricter(strict, cell)
    return strict, () if strict.denied else union(*(one.row_filters for one in decisions))


def _cell(decision: Decision) -> Cell:
    if decision.effect == "deny":
        return DENIED
    # A mask without an action would otherwise be none.
    return (
        Cell(mask=decision.mask or "replace-with-null", value=decision.mask_value)
        if decision.effect == "mask"
        else CLEAR
    )


def stricter(one: Cell, other: Cell) -> Cell:
    if one.denied or other.denied:
        return DENIED
    chosen = min(one, other, key=strictness)
    return chosen._replace(filters=union(one.filters, other.filters))


def strictness(cell: Cell) -> tuple[int, str]:
    actions: tuple[str, ...] = MASK_ACTIONS
    if not cell.mask:
        return len(actions), ""
    return actions.index(cell.mask) if cell.mask in actions else 0, repr(cell.value)


def _without_repeats(cells: tuple[Cell, ...], filters: Filters) -> Access:
    """A filter of the table need not be repeated by a column."""
    kept = tuple(c._replace(filters=tuple(f for f in c.filters if f not in filters)) if c.filters else c for c in cells)
    return _of(kept, filters)


def _of(cells: tuple[Cell, ...], filters: Filters) -> Access:
    """Without a readable column there is nothing to filter."""
    access = Access(cells, filters)
    return Access(cells) if access.denied else access


def union(*several: Filters) -> Filters:
    return tuple(sorted({one for filters in several for one in filters}))
