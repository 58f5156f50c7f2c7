"""Reads request bodies: limited in size, plain or gzip, JSON only, and without unknown fields."""

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from lily.api.http.encodings import decoded
from lily.api.http.errors import Declined
from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint
from lily.plugins.configuration_errors import known_names, plain

JSON = "application/json"
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii"})  # ASCII is UTF-8
_NOT_AN_OBJECT = frozenset({"model_type", "model_attributes_type"})
Body = TypeVar("Body", bound=BaseModel)


async def read_json(request: Request, limit: int) -> Any:
    """The body as JSON. Raises Declined with 413 or 415, Refused for malformed JSON."""
    require_media_type(request, (JSON,))
    return parse_json(await read_bytes(request, limit))


async def read_body(request: Request, shape: type[Body], limit: int) -> Body:
    """The body, validated. Raises Refused with every problem."""
    value = await read_json(request, limit)
    try:
        return shape.model_validate(value, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise Refused(*(_problem(shape, entry["type"], entry["loc"], entry["msg"]) for entry in problems)) from error


async def read_optional_body(request: Request, shape: type[Body], limit: int) -> Body:
    """As `read_body`. A request without a body has the defaults of the shape."""
    announced = request.headers.get("content-length", "0")
    if announced == "0" and "transfer-encoding" not in request.headers:
        return shape()
    return await read_body(request, shape, limit)


def require_media_type(request: Request, accepted: tuple[str, ...]) -> str:
    given, *parameters = (part.strip().lower() for part in request.headers.get("content-type", "").split(";"))
    if given not in accepted:
        description = f"send {' or '.join(accepted)}, not {given or 'a body without Content-Type'}"
        raise Declined(415, Problem("UNSUPPORTED_MEDIA_TYPE", description, "Content-Type"))
    if _is_text(given):
        _require_utf8(parameters)
    return given


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("json", "jsonl", "xml"))


def _require_utf8(parameters: list[str]) -> None:
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        charset = value.strip().strip('"')
        if name.strip() == "charset" and charset not in _CHARSETS:
            description = f"send UTF-8, not {charset[:MAX_LENGTH] or 'an empty charset'}; save the file as UTF-8"
            raise Declined(415, Problem("UNSUPPORTED_CHARSET", description, "Content-Type"))


def parse_json(raw: bytes, what: str = "the body", entity: str = "body") -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Refused(Problem("MALFORMED_JSON", f"{what} is not valid JSON: {error}", entity)) from error


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body, unpacked if it came as gzip. Raises Declined with 413 as soon as it is too long, or with 415."""
    return b"".join([piece async for piece in decoded(request, limit)])


def _problem(shape: type[BaseModel], kind: str, where: tuple[int | str, ...], message: str) -> Problem:
    entity = ".".join(str(step) for step in where) or "body"
    if not where and kind in _NOT_AN_OBJECT:
        return Problem("INVALID_TYPE", "the body must be a JSON object", entity)
    if kind == "missing":
        return Problem("INVALID_VALUE", f"`{entity}` is missing{_expected(shape, where)}", entity)
    if kind != "extra_forbidden":
        return Problem("INVALID_VALUE", plain(message), entity)
    name = str(where[-1])
    description = f"unknown field `{name[:MAX_LENGTH]}`"
    if known := known_names(shape, where[:-1]):
        description = f"{description}; {hint(name, known)}"
    return Problem("UNKNOWN_FIELD", description, entity)


def _expected(shape: type[BaseModel], where: tuple[int | str, ...]) -> str:
    """What a missing field of the body may be, where its description lists that."""
    field = shape.model_fields.get(str(where[0])) if len(where) == 1 else None
    described = (field.description or "") if field is not None else ""
    return f"; use {described[0].lower()}{described[1:]}" if described.startswith("One of: ") else ""
