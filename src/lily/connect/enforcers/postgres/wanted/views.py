"""The masking view of a table: what it shows depends on who asks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lily.connect.enforcers.access import Access, Cell, Filters
from lily.connect.enforcers.postgres.catalogue import Column, Relation
from lily.connect.enforcers.postgres.identifiers import is_current_user, quoted
from lily.connect.enforcers.postgres.wanted.masks import Fixed, masked
from lily.connect.enforcers.postgres.wanted.row_filters import written

TABLE = "t"  # its alias
Profiles = Sequence[tuple[Access, Sequence[str]]]


def profiles(of_roles: Mapping[str, Access]) -> Profiles:
    """The roles that see the same, in a stable order. Those who see nothing are left out."""
    grouped: dict[Access, list[str]] = defaultdict(list)
    for role, access in of_roles.items():
        if not access.denied:
            grouped[access].append(role)
    return sorted(((access, sorted(names)) for access, names in grouped.items()), key=lambda pair: pair[1])


def view_query(relation: Relation, shown: Profiles, valid: Mapping[Fixed, bool]) -> str:
    """`OFFSET 0` keeps the planner from copying the look-up of the role into every place that uses its result."""
    names = [column.name for column in relation.columns]
    columns = [
        f"{_column(column, [access.cells[at] for access, _ in shown], names, valid)} AS {quoted(column.name)}"
        for at, column in enumerate(relation.columns)
    ]
    whens = " ".join(f"WHEN {is_current_user(roles)} THEN {n}" for n, (_, roles) in enumerate(shown, 1))
    profile = f"CASE {whens} END" if shown else "NULL::integer"
    return (
        f"SELECT {', '.join(columns)} FROM {quoted(relation.schema, relation.name)} AS {TABLE} "
        f"CROSS JOIN (SELECT {profile} AS profile OFFSET 0) AS lily "
        f"WHERE lily.profile IS NOT NULL{_filter([access.filters for access, _ in shown], names)}"
    )


def _column(column: Column, cells: Sequence[Cell], names: Sequence[str], valid: Mapping[Fixed, bool]) -> str:
    numbers: dict[Cell, list[int]] = defaultdict(list)
    for number, cell in enumerate(cells, 1):
        numbers[cell].append(number)
    plain = f"{quoted(TABLE, column.name)}::{column.type.sql}"  # below its domain, whatever is decided
    if len(numbers) == 1 and cells[0].is_clear:
        return plain
    values = [(of, _value(column, cell, names, valid)) for cell, of in numbers.items() if not cell.denied]
    whens = " ".join(f"WHEN {_is(of)} THEN {value}" for of, value in values if value is not None)
    shown = f"CASE {whens} END::{column.type.sql}" if whens else f"NULL::{column.type.sql}"
    return f"({shown}) COLLATE {column.type.collation}" if column.type.collation else shown


def _value(column: Column, cell: Cell, names: Sequence[str], valid: Mapping[Fixed, bool]) -> str | None:
    name = quoted(TABLE, column.name)
    value = masked(name, column.type, cell.mask, cell.value, valid) if cell.mask else name
    if value is None:
        return None
    value = f"({value})::{column.type.sql}"
    return f"CASE WHEN {conjunction(cell.filters, names, TABLE)} THEN {value} END" if cell.filters else value


def _filter(filters: Sequence[Filters], names: Sequence[str]) -> str:
    numbers: dict[Filters, list[int]] = defaultdict(list)
    for number, one in enumerate(filters, 1):
        numbers[one].append(number)
    whens = [f"WHEN {_is(of)} THEN {conjunction(one, names, TABLE)}" for one, of in numbers.items() if one]
    return f" AND CASE {' '.join(whens)} ELSE true END" if whens else ""


def conjunction(filters: Filters, columns: Sequence[str], table: str = "") -> str:
    return " AND ".join(f"({written(one, columns, table)})" for one in filters)


def _is(numbers: Iterable[int]) -> str:
    several = list(numbers)
    return f"lily.profile = {several[0]}" if len(several) == 1 else f"lily.profile IN ({', '.join(map(str, several))})"


def create_view(schema: str, name: str, text: str) -> str:
    return f"CREATE OR REPLACE VIEW {quoted(schema, name)} WITH (security_barrier = true) AS {text}"
