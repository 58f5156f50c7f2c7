"""Decisions as Trino's OPA plug-in expects them. An empty list of masks or row filters means that there are none, so
whatever is in doubt is an error before it comes here."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from lily.enforce.questions import Question
from lily.enforce.trino.masks import DIALECT, mask_expression
from lily.enforce.trino.needs import needs
from lily.enforce.trino.objects import ObjectNames
from lily.enforce.trino.operations import COLUMN_MASK, FILTER_COLUMNS, ROW_FILTERS
from lily.enforce.trino.requests import Column, Request
from lily.model.errors import Problem, Refused
from lily.policy import Decision

NO_ROWS = "false"
MAX_TYPES = 1 << 20  # characters of the types in one request
SHORT_TYPE = 40
UNKNOWN_TYPE = ""


class Exchange(NamedTuple):
    """The questions of a request, and the response that follows from their decisions, which are in the same order."""

    questions: list[Question]
    answer: Callable[[Sequence[Decision]], Any]


def allow(request: Request, names: ObjectNames) -> Exchange:
    """Whether the operation is allowed."""
    questions = needs(request, request.resource, names)
    if questions is None:
        return Exchange([], lambda _: False)
    return Exchange(questions, lambda decisions: all(decision.allowed for decision in decisions))


def batch(request: Request, names: ObjectNames) -> Exchange:
    """The positions of those resources, or columns of the one table, that are allowed."""
    if request.operation == FILTER_COLUMNS:
        return _filtered_columns(request, names)
    needed = [needs(request, resource, names) for resource in request.filtered]
    questions = [question for one in needed if one is not None for question in one]

    def answer(decisions: Sequence[Decision]) -> list[int]:
        remaining = iter(decisions)
        allowed = []
        for place, one in enumerate(needed):
            if one is not None and not [True for _ in one if not next(remaining).allowed]:  # takes all of its own
                allowed.append(place)
        return allowed

    return Exchange(questions, answer)


def _filtered_columns(request: Request, names: ObjectNames) -> Exchange:
    if len(request.filtered) != 1:
        described = f"{FILTER_COLUMNS} is about one table, not {len(request.filtered)}; check Trino's version"
        raise Refused(Problem("INVALID_VALUE", described, "input.action.filterResources"))
    questions = needs(request, request.filtered[0], names) or []

    def answer(decisions: Sequence[Decision]) -> list[int]:
        table, *columns = decisions
        return [place for place, one in enumerate(columns) if one.allowed] if table.allowed else []

    return Exchange(questions, answer)


def row_filters(request: Request, names: ObjectNames) -> Exchange:
    """The expressions that a row must pass. A table that may not be read has no rows."""
    _require(request, ROW_FILTERS)
    if len(request.resource.path) != 3:
        raise _missing("table")

    def answer(decisions: Sequence[Decision]) -> list[dict[str, str]]:
        (table,) = decisions
        if not table.allowed:
            return [{"expression": NO_ROWS}]
        return [{"expression": row_filter.render(DIALECT)} for row_filter in table.row_filters]

    return Exchange([names.table("READ", request.resource.path)], answer)


def column_mask(request: Request, names: ObjectNames) -> Exchange:
    """The expression that takes the place of one column; null if the value may be seen."""
    column = request.resource.column
    if column is None:
        raise _missing("column")
    questions, expressions = _masks(request, [column], names)

    def answer(decisions: Sequence[Decision]) -> dict[str, str] | None:
        (expression,) = expressions(decisions)
        return None if expression is None else {"expression": expression}

    return Exchange(questions, answer)


def batch_column_masks(request: Request, names: ObjectNames) -> Exchange:
    """The expressions of those columns that are masked, by position."""
    if request.filtered:
        raise _missing("column")
    questions, expressions = _masks(request, request.columns, names)

    def answer(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
        return [
            {"index": place, "viewExpression": {"expression": expression}}
            for place, expression in enumerate(expressions(decisions))
            if expression is not None
        ]

    return Exchange(questions, answer)


def _masks(
    request: Request, columns: Sequence[Column], names: ObjectNames
) -> tuple[list[Question], Callable[[Sequence[Decision]], list[str | None]]]:
    """Trino asks for the columns of one table at a time; the response does not depend on that."""
    _require(request, COLUMN_MASK)
    runs = [(table, list(group)) for table, group in groupby(_bounded(columns), key=itemgetter(0, 1, 2))]
    questions = [one for table, group in runs for one in names.columns("READ", table, [column[3] for column in group])]

    def expressions(decisions: Sequence[Decision]) -> list[str | None]:
        remaining = iter(decisions)
        found: list[str | None] = []
        for _, group in runs:
            filters = next(remaining).row_filters
            for (_, _, _, name, kind), decision in zip(group, remaining, strict=False):  # the rest is of other tables
                is_clear = decision.effect == "allow"  # almost all of a wide table are
                found.append(None if is_clear else mask_expression(name, kind, decision, filters))
        return found

    return questions, expressions


def _bounded(columns: Sequence[Column]) -> Sequence[Column]:
    """Reading types takes time that other requests wait for. Where there is too much to read, a column of a long type
    counts as one of a type that is not known, which is NULL if it is masked."""
    if sum(len(one[4]) for one in columns) <= MAX_TYPES:
        return columns
    return [one if len(one[4]) <= SHORT_TYPE else (*one[:4], UNKNOWN_TYPE) for one in columns]


def _require(request: Request, operation: str) -> None:
    if request.operation != operation:
        described = f"this address is for {operation}, not {request.operation[:100]}; check access-control.properties"
        raise Refused(Problem("INVALID_VALUE", described, "input.action.operation"))


def _missing(what: str) -> Refused:
    return Refused(Problem("MISSING_FIELD", f"the request names no {what}; check Trino's version", "input.action"))
