"""Cursors: where the next page of a list begins. A cursor of another list, sort order or filter is refused."""

from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter

from lily.api.http import sealed
from lily.model.errors import Problem, Refused

Value = TypeVar("Value")

NUMBER: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=0, lt=2**63)])  # PostgreSQL's bigint


def seal(last: Any, *question: str) -> str:
    return sealed.seal(last, "cursor", *question)


def unseal(cursor: str, shape: TypeAdapter[Value], *question: str) -> Value:
    try:
        return sealed.unseal(cursor, shape, "cursor", *question)
    except ValueError as error:
        description = "the cursor belongs to another list, sort order or filter; start again without a cursor"
        raise Refused(Problem("INVALID_CURSOR", description, "cursor")) from error
