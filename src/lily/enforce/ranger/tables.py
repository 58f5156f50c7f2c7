"""The entries of one table: who may read it and its columns, masked how and which rows, and who may change it.

Every column is in exactly one access entry and in at most one mask entry: columns with rights of their own are listed,
and all others, those of which Lily does not know included, have the rights of a plain column of the table.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lily.enforce.ranger.entries import ACCESS, MASK, ROW_FILTER, Entry, Values, access, can_be_named
from lily.enforce.ranger.expressions import condition, family_of, first_of_several, mask_expression
from lily.enforce.ranger.rights import Rights, Ruling
from lily.enforce.ranger.subjects import Keys
from lily.enforce.trino.objects import ObjectNames, describes_engine
from lily.enforce.trino.types import Family
from lily.policy import ACTIONS

Path = tuple[str, str, str]  # catalogue, schema, table
PLAIN = "\ufffe"  # a column that no catalogue has: its rights are those of every plain column of the table


class Column(NamedTuple):
    name: str
    type: str = ""  # as the catalogue states it, if it does


class CatalogueTable(NamedTuple):
    """A table by its path in the engine, with the columns that may have rights of their own."""

    path: Path
    columns: tuple[Column, ...] = ()


class _Shape(NamedTuple):
    """What two columns must have in common to share their entries."""

    read: Rights
    family: Family | None


def references(table: CatalogueTable, names: ObjectNames) -> Iterator[str]:
    """The names whose facts `entries_of` needs."""
    yield from names.of(table.path)
    for column in (PLAIN, *(column.name for column in table.columns)):
        yield from names.of((*table.path, column))


def entries_of(table: CatalogueTable, ruling: Ruling, operator: Rights) -> tuple[Entry, ...]:
    """Empty if it cannot be named to Ranger, and is denied, or if the engine describes itself in it. `operator` is the
    right to operate the engine."""
    if not can_be_named(*table.path) or describes_engine(table.path):
        return ()
    own = ruling.of("READ", table.path)
    plain = _Shape(_column(ruling, (*table.path, PLAIN), own), None)
    shapes: dict[_Shape, list[str]] = {}
    for column in table.columns:
        shape = _Shape(_column(ruling, (*table.path, column.name), own), family_of(column.type))
        if shape.read != plain.read or (plain.read.masks and shape.family and can_be_named(column.name)):
            shapes.setdefault(shape if '"' not in column.name else shape._replace(family=None), []).append(column.name)
    listed = tuple(sorted(name for columns in shapes.values() for name in columns))
    if not can_be_named(*listed):
        return ()
    reads = [own, plain.read, *(shape.read for shape in shapes)]
    found = [_of_table(table, ruling, operator, reads), *_filtered(own, ruling)]
    found += _of_columns(Values(listed, others=True), plain, own, ruling)
    for shape, columns in shapes.items():
        found += _of_columns(Values(tuple(sorted(columns))), shape, own, ruling)
    return tuple(entry for entry in found if entry.type != ACCESS or entry.allow)


def _column(ruling: Ruling, path: Sequence[str], table: Rights) -> Rights:
    """A query needs both the table and the column. Masks are those of the column alone."""
    column = ruling.of("READ", path, is_column=True)
    both = ruling.together([table, column])
    return both._replace(masks=column.masks, filters=column.filters)


def _of_table(table: CatalogueTable, ruling: Ruling, operator: Rights, reads: Sequence[Rights]) -> Entry:
    """Ranger asks for one access where Lily asks for several actions: then all of them are needed. ALTER is needed to
    rename a table, after which its data would have no tags, and to change its owner."""
    read, write, delete = (ruling.of(action, table.path) for action in ACTIONS)
    write, delete = write.in_clear(), delete.in_clear()
    columns = (PLAIN, *(column.name for column in table.columns))
    below = (ruling.of("WRITE", (*table.path, column), is_column=True).in_clear() for column in columns)
    insert = ruling.together([write, *below])
    clear = [rights.in_clear() for rights in reads]
    alter = ruling.together([write, delete, operator, *clear])
    granted = {"select": read, "show": read, "insert": insert, "create": write, "delete": delete, "drop": delete}
    return access({**granted, "alter": alter}.items())


def _filtered(own: Rights, ruling: Ruling) -> Iterator[Entry]:
    if own.filters and own.allow:
        yield Entry(ROW_FILTER, shown=tuple(first_of_several(own.filters, ruling.subjects)))


def _of_columns(columns: Values, shape: _Shape, table: Rights, ruling: Ruling) -> Iterator[Entry]:
    yield access([("select", shape.read)], columns)
    shown = tuple(_masked(shape, table, ruling))
    if shown and shape.read.allow:
        yield Entry(MASK, columns, shown=shown)


def _masked(shape: _Shape, table: Rights, ruling: Ruling) -> Iterator[tuple[Keys, str]]:
    """A row filter that the column has and its table has not hides the value in the rows that it excludes."""
    own = [one for one in shape.read.filters if one not in table.filters]
    hidden = condition(own, ruling.subjects)
    for mask, keys in shape.read.masks:
        yield keys, mask_expression(shape.family, mask, hidden)
    for keys, rows in first_of_several(own, ruling.subjects):
        yield keys, mask_expression(shape.family, None, rows)
