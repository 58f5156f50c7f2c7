"""Cursors: where a list goes on. One that was made for another list or another question is refused."""

from typing import Any

from lily.api import opaque
from lily.model.errors import Problem, Refused


def seal(last: Any, *question: str) -> str:
    return opaque.seal(last, "cursor", *question)


def unseal(cursor: str, *question: str) -> Any:
    try:
        return opaque.unseal(cursor, "cursor", *question)
    except ValueError as error:
        description = "this cursor belongs to another list, sort, order or filter; begin again without one"
        raise Refused(Problem("INVALID_CURSOR", description, "cursor")) from error
