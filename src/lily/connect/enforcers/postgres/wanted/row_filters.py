"""Row filters with the column names as the table spells them."""

from collections.abc import Collection

from sqlglot import exp, parse_one

from lily.model.errors import Refused
from lily.policy import RowFilter, fold

DIALECT = "postgres"


class UnknownColumn(Exception):
    """A row filter names a column that the table does not have, or has twice but for case."""


def written(row_filter: str, columns: Collection[str], table: str = "") -> str:
    """The filter for one table, its columns quoted, and qualified with `table` if that is given.

    Raises UnknownColumn, also if the text is not a row filter: the roles that it would filter are then denied.
    """
    try:
        text = RowFilter(row_filter).render(DIALECT)
    except Refused as error:
        raise UnknownColumn(str(error)) from error

    def spelt(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        name = _found(node.name, columns)
        return exp.column(name, table=table or None, quoted=True)

    return parse_one(text, read=DIALECT).transform(spelt).sql(dialect=DIALECT, comments=False)


def _found(name: str, columns: Collection[str]) -> str:
    if name in columns:
        return name
    matches = [column for column in columns if fold(column) == fold(name)]
    if len(matches) != 1:
        described = "has no column" if not matches else "has more than one column"
        raise UnknownColumn(f"the table {described} {name!r}, which the row filter compares")
    return matches[0]
