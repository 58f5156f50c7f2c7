"""Reads messages of other systems, in which every field may be missing, null or of another type."""

from collections.abc import Iterator
from typing import Any

import orjson

from lily.model.errors import Problem, Refused
from lily.model.values import MAX_ITEMS, MAX_QUALIFIED_NAME, Checker

MAX_RAW = 64 << 10  # bytes of a message that the history keeps

Json = dict[str, Any]


def parsed(body: bytes) -> Any:
    """Raises Refused for a body that is not JSON, or nested too deeply."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(Problem("MALFORMED_JSON", f"the body is not valid JSON: {error}", "body")) from error


def canonical(message: Any) -> bytes:
    """The same for messages that differ only in blanks and in the order of keys. Raises Refused if it is too deep."""
    try:
        return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise Refused(Problem("TOO_DEEP", f"the message cannot be written again as JSON: {error}", "body")) from error


def text(given: Any, limit: int) -> str | None:
    """The text without what cannot be stored, cut to so many bytes; None for anything else."""
    if not isinstance(given, str):
        return None
    printable = "".join(letter for letter in given[:limit] if _is_storable(letter)).strip()
    return printable.encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore").strip() or None


def name(given: Any) -> str | None:
    """The name as it would be stored; None for what can be no name."""
    found = text(given, MAX_QUALIFIED_NAME)
    return None if found is None else Checker().name(found, "name", MAX_QUALIFIED_NAME)


def web_address(given: Any, limit: int) -> str | None:
    """A link that people may click; None for anything else."""
    url = text(given, limit)
    return url if url is not None and url.lower().startswith(("https://", "http://")) else None


def kept(message: Any) -> Any:
    """The message itself, if PostgreSQL can store it and it is not too large."""
    checker = Checker()
    found = checker.free(message, "raw")
    return None if checker.problems or len(orjson.dumps(found)) > MAX_RAW else found


def an_object(given: Any) -> Json:
    return given if isinstance(given, dict) else {}


def required_object(given: Any, what: str) -> Json:
    """Raises Refused for anything else."""
    if not isinstance(given, dict):
        raise Refused(Problem("INVALID_TYPE", f"{what} must be a JSON object", "body"))
    return given


def items(given: Any) -> Iterator[Any]:
    return iter(given[:MAX_ITEMS] if isinstance(given, list) else ())


def part(of: Any, *path: str) -> Any:
    """What stands there in nested objects; None if there is no such thing."""
    for step in path:
        of = an_object(of).get(step)
    return of


def _is_storable(letter: str) -> bool:
    return letter >= " " and not "\x7f" <= letter <= "\x9f" and not "\ud800" <= letter <= "\udfff"
