"""The entries of one table: who may read it and its columns, masked how and which rows, and who may change it.

Columns with rights or masks of their own are listed, and all others, those of which Lily does not know included, have
those of a plain column of the table. So no two entries are about the same column, and their order does not matter.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from lily.enforce.questions import in_doubt
from lily.enforce.ranger.entries import ACCESS, MASK, ROW_FILTER, Entry, Values, access, can_be_named
from lily.enforce.ranger.expressions import condition, family_of, first_of_several, mask_expression
from lily.enforce.ranger.rights import CHANGES, NO_RIGHTS, Rights, Ruling
from lily.enforce.ranger.subjects import Keys
from lily.enforce.trino.objects import ObjectNames, described, describes_engine
from lily.enforce.trino.types import Family

Path = tuple[str, str, str]  # catalogue, schema, table
Kind = TypeVar("Kind")
PLAIN = "\ufffe"  # a column that no catalogue has: its rights are those of every plain column of the table


class Column(NamedTuple):
    name: str
    type: str = ""  # as the catalogue states it, if it does


class CatalogueTable(NamedTuple):
    """A table by its path in the engine, with the columns that may have rights of their own."""

    path: Path
    columns: tuple[Column, ...] = ()


def references(table: CatalogueTable, names: ObjectNames) -> Iterator[str]:
    """The names whose facts `entries_of` needs."""
    for path in (table.path, *described(table.path)):
        yield from names.of(path)
    for column in (PLAIN, *(column.name for column in table.columns)):
        yield from names.of((*table.path, column))


def entries_of(
    table: CatalogueTable, ruling: Ruling, operator: Rights, others: Sequence[Rights] = ()
) -> tuple[Entry, ...]:
    """Empty if it cannot be named to Ranger, and is denied, or if the engine describes itself in it. `operator` is the
    right to operate the engine, `others` are rights that reading needs as well."""
    if not can_be_named(*table.path) or describes_engine(table.path):
        return ()
    own = ruling.together([ruling.of("READ", table.path), *others])
    columns = {PLAIN: "", **dict(table.columns)}
    reads = {name: _column(ruling, (*table.path, name), own) for name in columns}
    shown = {name: _shown(reads[name], _family(name, kind), own, ruling) for name, kind in columns.items()}
    accesses = list(_divided({name: Rights(read.allow, read.deny) for name, read in reads.items()}))
    masks = list(_divided(shown))
    if not all(can_be_named(*values.listed) for values, _ in (*accesses, *masks)):
        return ()
    found = [_of_table(table, ruling, operator, [own, *reads.values()]), *_filtered(own, ruling)]
    found += [access([("select", rights)], values) for values, rights in accesses]
    found += [Entry(MASK, values, shown=items) for values, items in masks if items]
    return tuple(entry for entry in found if entry.type != ACCESS or entry.allow)


def rights_of_described(
    table: CatalogueTable, tables: Mapping[Sequence[str], CatalogueTable], ruling: Ruling
) -> Iterator[Rights]:
    """To read the tables that this one describes, as they are and with all their columns. `tables` has those of the
    service by path: of one that the catalogue has elsewhere, the columns are not known here."""
    for path in described(table.path):
        found = tables.get(path)
        if found is not None:
            yield ruling.of("READ", path).in_clear()
            for column in (PLAIN, *(one.name for one in found.columns)):
                yield ruling.of("READ", (*path, column), is_column=True).in_clear()
        elif ruling.facts(path):
            yield NO_RIGHTS


def _divided(columns: Mapping[str, Kind]) -> Iterator[tuple[Values, Kind]]:
    """Every column is in exactly one part; those that are like a plain column are not listed."""
    parts: dict[Kind, list[str]] = {columns[PLAIN]: []}
    for name, kind in columns.items():
        parts.setdefault(kind, []).append(name)
    del parts[columns[PLAIN]]
    yield _listed(name for names in parts.values() for name in names)._replace(others=True), columns[PLAIN]
    for kind, names in parts.items():
        yield _listed(names), kind


def _listed(names: Iterable[str]) -> Values:
    """Ranger compares names as they are written, and an engine may keep a letter and its accent apart: what is stored
    as one character is listed in both forms."""
    return Values(tuple(sorted({form for name in names for form in (name, unicodedata.normalize("NFD", name))})))


def _family(name: str, data_type: str) -> Family | None:
    """Unknown also where the name cannot be placed into an expression, or not be listed."""
    return family_of(data_type) if can_be_named(name) and '"' not in name else None


def _column(ruling: Ruling, path: Sequence[str], table: Rights) -> Rights:
    """A query needs both the table and the column. Masks are those of the column alone; where its name does not show
    which table it is in, also those of a plain column."""
    column = ruling.of("READ", path, is_column=True)
    if in_doubt(path[-1], ()):
        column = ruling.together([column, ruling.of("READ", (*path[:-1], PLAIN), is_column=True)])
    both = ruling.together([table, column])
    return both._replace(masks=column.masks, filters=column.filters)


def _of_table(table: CatalogueTable, ruling: Ruling, operator: Rights, reads: Sequence[Rights]) -> Entry:
    """Ranger asks for one access where Lily asks for several actions: then all of them are needed. ALTER is needed to
    rename a table, after which its data would have no tags, and to change its owner."""
    write, delete = (ruling.of(action, table.path).in_clear() for action in CHANGES)
    columns = (PLAIN, *(column.name for column in table.columns))
    below = (ruling.of("WRITE", (*table.path, column), is_column=True).in_clear() for column in columns)
    insert = ruling.together([write, *below])
    clear = [rights.in_clear() for rights in reads]
    alter = ruling.together([write, delete, operator, *clear])
    read = reads[0]
    granted = {"select": read, "show": read, "insert": insert, "create": write, "delete": delete, "drop": delete}
    return access({**granted, "alter": alter}.items())


def _filtered(own: Rights, ruling: Ruling) -> Iterator[Entry]:
    if own.filters and own.allow:
        yield Entry(ROW_FILTER, shown=tuple(first_of_several(own.filters, ruling.subjects)))


def _shown(read: Rights, family: Family | None, table: Rights, ruling: Ruling) -> tuple[tuple[Keys, str], ...]:
    """The items of a column's masks. A row filter that the column has and its table has not hides the value in the rows
    that it excludes."""
    if not read.allow:
        return ()
    own = [one for one in read.filters if one not in table.filters]
    hidden = condition(own, ruling.subjects)
    masked = [(keys, mask_expression(family, mask, hidden)) for mask, keys in read.masks]
    filtered = first_of_several(own, ruling.subjects)
    return (*masked, *((keys, mask_expression(family, None, rows)) for keys, rows in filtered))
