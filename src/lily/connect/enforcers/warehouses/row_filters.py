"""Row filters in a warehouse's dialect, with its columns replaced by what stands for them there."""

from collections.abc import Callable, Mapping

from sqlglot import exp, parse_one

from lily.connect.enforcers.warehouses.types import ColumnType, parse_type
from lily.model.errors import Refused
from lily.policy import RowFilter, fold

_LITERALS = {exp.DataType.Type.DATE: "DATE", exp.DataType.Type.TIMESTAMP: "TIMESTAMP"}


class Unusable(Exception):
    """A row filter that the warehouse cannot evaluate. Those for whom it was meant see no rows."""


def written(row_filter: str, dialect: str, column: Callable[[str], exp.Expr]) -> str:
    """`column` gives what stands for a column of the table. Raises Unusable."""

    def replaced(node: exp.Expr) -> exp.Expr:
        return column(node.name) if isinstance(node, exp.Column) else node

    return _parsed(row_filter, dialect).transform(replaced).sql(dialect=dialect, comments=False)


def filter_columns(row_filter: str, dialect: str) -> list[str]:
    """The columns that it compares, as written. Raises Unusable."""
    return compared(_parsed(row_filter, dialect))


def compared(expression: exp.Expr) -> list[str]:
    return sorted({column.name for column in expression.find_all(exp.Column)})


def column_type(row_filter: str, name: str, dialect: str, known: Mapping[str, ColumnType | None]) -> ColumnType:
    """The stated type, else one that the constants suggest with which the column is compared. Raises Unusable."""
    for column, kind in known.items():
        if fold(column) == fold(name) and kind is not None:
            return kind
    for node in _parsed(row_filter, dialect).find_all(exp.Column):
        if node.name == name and (suggested := _suggested(node)):
            found = parse_type(suggested, dialect)
            if found is not None:
                return found
    raise Unusable(f"the type of the column {name!r} is not known; ingest the column with the attribute `data_type`")


def _suggested(column: exp.Expr) -> str:
    parent = column.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if not isinstance(parent, exp.Predicate | exp.In | exp.Between):
        return ""
    for other in parent.find_all(exp.Literal, exp.Boolean, exp.Cast):
        if isinstance(other, exp.Cast):
            return _LITERALS.get(other.to.this, "")
        if isinstance(other, exp.Boolean):
            return "BOOLEAN"
        if not isinstance(other.parent, exp.Cast):
            return "STRING" if other.is_string else "FLOAT"
    return ""


def _parsed(row_filter: str, dialect: str) -> exp.Expr:
    try:
        return parse_one(RowFilter(row_filter).render(dialect), read=dialect)
    except Refused as error:
        raise Unusable(str(error)) from error
