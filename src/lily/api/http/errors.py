"""Errors as HTTP responses: a status and `{"errors": [{"code", "description", "entity"}]}`."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lily.api.http.openapi.responses import Json
from lily.bus.producer import LogFull
from lily.model.errors import Problem, Refused, Transient

RETRY_SECONDS = "1"
GONE = 499  # the client closed the connection before the response: nginx's number, for the log only
Found = TypeVar("Found")
_CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}


class Declined(Refused):
    """A refused request whose status is not 400."""

    def __init__(self, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.headers = headers or {}


_NO_TOKEN = "send a valid token: `Authorization: Bearer TOKEN`; `lily token create` makes one"  # noqa: S105 - a text


def unauthenticated(description: str = _NO_TOKEN) -> Declined:
    return Declined(401, Problem("UNAUTHENTICATED", description), {"WWW-Authenticate": 'Bearer realm="lily"'})


def forbidden(description: str, entity: str = "", code: str = "FORBIDDEN") -> Declined:
    return Declined(403, Problem(code, description, entity))


def not_found(entity: str, what: str = "asset") -> Declined:
    return Declined(404, Problem("NOT_FOUND", f"there is no such {what}", entity))


def existing(found: Found | None, entity: str, what: str) -> Found:
    """Raises Declined with 404 if there is none."""
    if found is None:
        raise not_found(entity, what)
    return found


def too_large(limit: int) -> Declined:
    return Declined(413, Problem("TOO_LARGE", f"the body must not exceed {limit} bytes", "body"))


def too_many(code: str, description: str, entity: str = "") -> Declined:
    """A tenant that already uses its whole share of something."""
    return Declined(429, Problem(code, description, entity), {"Retry-After": RETRY_SECONDS})


def limit_reached(what: str, limit: int, path: str) -> Declined:
    """A tenant that has stored as many objects as the setting `LILY_LIMITS__WHAT` permits. Not 429, which clients
    repeat: only a deletion helps."""
    description = (
        f"your tenant has the {limit:,} {what.replace('_', ' ')} that LILY_LIMITS__{what.upper()} permits; delete "
        f"those that are not needed with DELETE {path}, or let an operator raise the limit"
    )
    return Declined(409, Problem(f"TOO_MANY_{what.upper()}", description))


def error_response(error: Exception, correlation: str = "") -> Json:
    """The response to an exception. An unexpected one shows no details, only the correlation id."""
    match error:
        case Refused():
            return _refused(error)
        case Transient():
            return _try_later(error)
        case RequestValidationError():
            return problems_response(400, [_invalid(entry["loc"], entry["msg"]) for entry in error.errors()])
        case ClientDisconnect():
            return problems_response(GONE, [Problem("GONE", "the client closed the connection")])
        case HTTPException():
            return problems_response(error.status_code, [_plain(error)], error.headers)
        case _:
            description = f"internal error; search the API's log for the correlation id {correlation}"
            return problems_response(500, [Problem("INTERNAL", description)])


def problems_response(
    status: int, problems: tuple[Problem, ...] | list[Problem], headers: Mapping[str, str] | None = None
) -> Json:
    return Json({"errors": [problem.as_dict() for problem in problems]}, status, headers)


def _refused(error: Refused) -> Json:
    if isinstance(error, Declined):
        return problems_response(error.status, error.problems, error.headers)
    return problems_response(400, error.problems)


def _try_later(error: Transient) -> Json:
    status, code = (429, "LOG_FULL") if isinstance(error, LogFull) else (503, "UNAVAILABLE")
    return problems_response(status, [Problem(code, str(error))], {"Retry-After": RETRY_SECONDS})


def _plain(error: HTTPException) -> Problem:
    phrase = HTTPStatus(error.status_code).phrase
    return Problem(_CODES.get(error.status_code, phrase.upper().replace(" ", "_")), f"{phrase}; see /docs", "path")


def _invalid(where: tuple[int | str, ...], message: str) -> Problem:
    return Problem("INVALID_VALUE", message, ".".join(str(step) for step in where[1:]) or str(where[0]))
