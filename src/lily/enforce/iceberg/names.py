"""Tables and columns of Iceberg as questions for the policies."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lily.enforce.iceberg.errors import NotExpressible
from lily.enforce.iceberg.fields import Field
from lily.enforce.questions import Names, Question, in_doubt
from lily.model.engine_names import stored_form
from lily.policy import fold

UNIT_SEPARATOR = "\x1f"  # between the levels of a namespace in a path, as the specification has it
_LEVELS = re.compile(rf"[.{UNIT_SEPARATOR}]")


class Column(NamedTuple):
    """A column of the table: its field, and the qualified names that it may have in Lily."""

    field: Field
    names: Names


def split_namespace(namespace: str) -> tuple[str, ...]:
    """`accounting%1Ftax` and `accounting.tax` are the same two levels. An empty level is none."""
    return tuple(level for level in _LEVELS.split(namespace) if level)


def table_question(names: Names) -> Question:
    return Question("READ", names)


def unlisted_columns(tables: Names) -> list[Question]:
    """About a column that no catalogue lists: what a column is that was added since."""
    return [Question("READ", tuple(f"{table}.{UNIT_SEPARATOR}" for table in tables), is_column=True)]


def column_questions(columns: Iterable[Column], tables: Names) -> list[Question]:
    return [
        Question("READ", column.names, above=in_doubt(column.field.name, tables), is_column=True) for column in columns
    ]


def named_columns(tables: Names, fields: Sequence[Field]) -> list[Column]:
    """The columns of a table that may have several names."""
    names = {field.name: tuple(stored_form(f"{table}.{field.name}") for table in tables) for field in fields}
    return [Column(field, names[field.name]) for field in fields]


def merged(columns: Iterable[Column]) -> list[Column]:
    """Columns that differ in case alone are one, which has the stricter decision. Raises NotExpressible if their field
    ids differ."""
    found: dict[str, Column] = {}
    for column in columns:
        key = fold(column.field.name)
        known = found.get(key)
        found[key] = column if known is None else _both(known, column)
    return list(found.values())


def _both(one: Column, other: Column) -> Column:
    first, second = one.field, other.field
    if first.id is not None and second.id is not None and first.id != second.id:
        described = (
            f"the column has the field ids {first.id} and {second.id} in the catalogue; "
            "correct `field_id`, or state the fields of the table as `field`"
        )
        raise NotExpressible("FIELD_ID_UNKNOWN", described, first.name)
    kind = first.kind if first.kind == second.kind else ""
    field = Field(first.name, first.id or second.id, kind, first.required or second.required)
    return Column(field, tuple(dict.fromkeys((*one.names, *other.names))))
