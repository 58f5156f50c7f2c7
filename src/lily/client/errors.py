"""What the client raises: every answer that is no success, and whether repeating the call can help."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import orjson

from lily.model.errors import LilyError, Problem, Terminal, Transient


class LilyApiError(LilyError):
    """The API's own words: its status (0 where there was no answer at all) and its problems."""

    def __init__(self, status: int, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(_sentence(problem) for problem in problems) or f"the answer was {status}")
        self.status = status
        self.problems = tuple(problems)


class NotAuthenticated(LilyApiError, Terminal):
    """401: the token is missing, forged, revoked or expired. Get one with `lily token create`."""


class NotAllowed(LilyApiError, Terminal):
    """403: the token lacks a scope, a policy denies it, or the body names another tenant."""


class NotFound(LilyApiError, Terminal):
    """404: this tenant has no such thing."""


class Refused(LilyApiError, Terminal):
    """Any other 4xx: the call breaks the contract. Nothing of it was stored."""


class Unavailable(LilyApiError, Transient):
    """429, 502, 503, 504 or no answer, also after every retry. Writes may be repeated: they state the same again."""

    def __init__(self, status: int, problems: Sequence[Problem], retry_after: float | None = None) -> None:
        super().__init__(status, problems)
        self.retry_after = retry_after


class Unexpected(LilyApiError, Terminal):
    """500, or an answer that is none of Lily's: a bug of the server, or the address of something else."""


_KINDS = {401: NotAuthenticated, 403: NotAllowed, 404: NotFound}
_UNAVAILABLE = frozenset({429, 502, 503, 504})  # 502 and 504 are a gateway's words for the same
_LONGEST_RETRY_AFTER = 3_600.0


def error_for(status: int, body: bytes, retry_after: str = "") -> LilyApiError:
    """The error that an answer amounts to."""
    problems = _problems(status, body)
    if status in _UNAVAILABLE:
        return Unavailable(status, problems, _seconds(retry_after))
    kind = _KINDS.get(status) or (Refused if 400 <= status < 500 else Unexpected)
    return kind(status, problems)


def unreachable(url: str, cause: BaseException) -> Unavailable:
    reason = str(cause) or type(cause).__name__
    description = f"{url} does not answer ({reason}). Is Lily running there? See `lily status`."
    return Unavailable(0, [Problem("UNREACHABLE", description)])


def unexpected(status: int, what: str) -> Unexpected:
    return Unexpected(status, [Problem("UNEXPECTED_ANSWER", f"{what}. Is this the address of a Lily?")])


def _problems(status: int, body: bytes) -> list[Problem]:
    """The problems as the contract spells them; whatever else stands in front of Lily answers in its own way."""
    try:
        entries: list[Any] = orjson.loads(body)["errors"]
        return [
            Problem(str(entry["code"]), str(entry["description"]), str(entry.get("entity") or "")) for entry in entries
        ]
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return [Problem(_code(status), f"the answer was {status} {_phrase(status)}".rstrip())]


def _code(status: int) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", _phrase(status).upper()) or f"STATUS_{status}"


def _phrase(status: int) -> str:
    return next((known.phrase for known in HTTPStatus if known == status), "")


def _sentence(problem: Problem) -> str:
    return f"{problem.code}: {problem.description}" + (f" ({problem.entity})" if problem.entity else "")


def _seconds(retry_after: str) -> float | None:
    """Only the form in seconds: Lily sends no other, and a date would need the server's clock to be ours."""
    return min(float(retry_after), _LONGEST_RETRY_AFTER) if re.fullmatch(r"\d{1,9}", retry_after, re.ASCII) else None
