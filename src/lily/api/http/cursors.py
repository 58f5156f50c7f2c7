"""Cursors: where the next page of a list begins. A cursor of another list, sort order or filter is refused."""

from typing import Annotated, Any, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter

from lily.api.http import sealed
from lily.model.errors import Problem, Refused
from lily.model.ids import looks_like_uuid

Value = TypeVar("Value")

Place = tuple[str, str]  # the time of the last item of a page, and its id

_Text = Annotated[str, StringConstraints(max_length=64)]
_PLACE: TypeAdapter[Place] = TypeAdapter(tuple[_Text, _Text])
NUMBER: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=0, lt=2**63)])  # PostgreSQL's bigint


def seal(last: Any, *question: str) -> str:
    return sealed.seal(last, "cursor", *question)


def unseal(cursor: str, shape: TypeAdapter[Value], *question: str) -> Value:
    try:
        return sealed.unseal(cursor, shape, "cursor", *question)
    except ValueError as error:
        description = "the cursor belongs to another list, sort order or filter; start again without a cursor"
        raise Refused(Problem("INVALID_CURSOR", description, "cursor")) from error


def unseal_place(cursor: str | None, *question: str) -> Place | None:
    """The place after which the next page begins, in a list that is ordered by time and id; None without a cursor."""
    if cursor is None:
        return None
    place = unseal(cursor, _PLACE, *question)
    return place if looks_like_uuid(place[1]) else None
