"""Decisions as read restrictions: the filter that every row must pass, and what is done to which field."""

from collections.abc import Sequence
from typing import Any

from sqlglot import parse_one

from lily.enforce.iceberg.errors import NotExpressible
from lily.enforce.iceberg.fields import FIELD_ID, Field
from lily.enforce.iceberg.masks import action
from lily.enforce.iceberg.names import Column
from lily.enforce.iceberg.predicates import Predicate, both
from lily.enforce.iceberg.row_filters import Translator
from lily.policy import Decision, RowFilter, fold

ROW_FILTER, PROJECTIONS = "required-row-filter", "required-column-projections"
DIALECT = "postgres"
STATE_FIELDS = "state the fields of its schema, each as `field=4: email: optional string`"


def restrictions(table: Decision, columns: Sequence[tuple[Column, Decision]], user: str) -> dict[str, Any]:
    """What a reader must do for this user, who may read the table. Empty: nothing. Raises NotExpressible, or Refused if
    a stored row filter is not valid.

    A row filter that applies to a column and not to its whole table hides the column: there is no condition on a
    projection.
    """
    fields = [column.field for column, _ in columns]
    found: dict[str, Any] = {}
    if (predicate := _row_filter(table.row_filters, fields, user)) is not True:
        found[ROW_FILTER] = predicate
    projections = [
        {"field-id": _id(column.field, "masked"), "action": action(column.field, _mask(decision, hidden=hidden))}
        for column, decision in columns
        if (hidden := _is_hidden(decision, table)) or decision.mask is not None
    ]
    if projections:
        found[PROJECTIONS] = sorted(projections, key=lambda one: one["field-id"])
    return found


def refuse_unlisted(table: Decision, unlisted: Sequence[Decision]) -> None:
    """Raises NotExpressible if a column would be restricted of which Lily does not know: a reader shows what is not
    listed."""
    _refuse(table, unlisted, "every column of the table is restricted, and only its catalogue knows all of them;")


def refuse_unnamed(table: Decision, unnamed: Sequence[Decision]) -> None:
    """Raises NotExpressible if a column is restricted whose name Lily does not know, because an edge came before it."""
    _refuse(
        table, unnamed, "a column of the table is restricted that has lineage and was never ingested; ingest it, or"
    )


def _refuse(table: Decision, decisions: Sequence[Decision], why: str) -> None:
    if any(_is_hidden(one, table) or one.mask is not None for one in decisions):
        raise NotExpressible("COLUMNS_UNKNOWN", f"{why} {STATE_FIELDS}", "field")


def _is_hidden(decision: Decision, table: Decision) -> bool:
    own = [one for one in decision.row_filters if one not in table.row_filters]
    return not decision.allowed or bool(own)


def _mask(decision: Decision, *, hidden: bool) -> Any:
    return None if hidden else decision.mask


def _row_filter(filters: Sequence[RowFilter], fields: Sequence[Field], user: str) -> Predicate:
    translator = Translator(lambda name: _found(name, fields), user)
    predicate: Predicate = True
    for row_filter in filters:
        text = row_filter.render(DIALECT)
        predicate = both(predicate, translator.cases(parse_one(text, read=DIALECT)).true)
    return predicate


def _found(name: str, fields: Sequence[Field]) -> Field:
    exact = [field for field in fields if field.name == name]
    found = exact or [field for field in fields if fold(field.name) == fold(name)]
    if len({field.id for field in found}) > 1:
        described = f"the row filter compares {name!r}, and the table has several columns of that name but for case"
        raise NotExpressible("ROW_FILTER_NOT_EXPRESSIBLE", f"{described}; quote the name as it is", name)
    field = found[0] if found else Field(name)
    _id(field, "compared by a row filter")
    return field


def _id(field: Field, why: str) -> int:
    if field.id is None:
        described = (
            f"the column {field.name!r} is {why}, and its field id is not known; ingest the column with the attribute "
            f"`{FIELD_ID}`, or state the fields of the table as `field=4: email: optional string`"
        )
        raise NotExpressible("FIELD_ID_UNKNOWN", described, field.name)
    return field.id
