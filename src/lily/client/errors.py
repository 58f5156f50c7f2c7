"""The errors that the client raises. The type shows whether a retry can help."""

import re
import ssl
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import orjson

from lily.model.errors import LilyError, Problem, Terminal, Transient


class LilyApiError(LilyError):
    """The API's error: its status (0 if there was no response) and its problems, as the server describes them."""

    def __init__(self, status: int, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(_sentence, problems)) or f"The API responded with status {status}.")
        self.status = status
        self.problems = tuple(problems)


class NotAuthenticated(LilyApiError, Terminal):
    """401: the token is missing, invalid, revoked or expired. Create one with `lily token create`."""


class NotAllowed(LilyApiError, Terminal):
    """403: the token lacks a scope, a policy denies the call, or the body names another tenant."""


class NotFound(LilyApiError, Terminal):
    """404: the tenant has no asset, definition or receipt of this id or name."""


class Refused(LilyApiError, Terminal):
    """Any other 4xx, or a call refused before it was sent: the input is invalid. Nothing was stored."""


class Unavailable(LilyApiError, Transient):
    """429, 502, 503, 504 or no response, after all retries. Writes are idempotent, so they may be sent again later."""

    def __init__(self, status: int, problems: Sequence[Problem], retry_after: float | None = None) -> None:
        super().__init__(status, problems)
        self.retry_after = retry_after


class Unexpected(LilyApiError, Terminal):
    """500, or a response that does not follow the contract: a bug, or the address of another server."""


_KINDS = {401: NotAuthenticated, 403: NotAllowed, 404: NotFound}
_UNAVAILABLE = frozenset({429, 502, 503, 504})  # a gateway sends 502 and 504 for the same
_LONGEST_RETRY_AFTER = 3_600.0


def error_for(status: int, body: bytes, retry_after: str = "") -> LilyApiError:
    """The error for a status."""
    problems = _problems(status, body)
    if status in _UNAVAILABLE:
        return Unavailable(status, problems, _seconds(retry_after))
    kind = _KINDS.get(status) or (Refused if 400 <= status < 500 else Unexpected)
    return kind(status, problems)


def unreachable(url: str, cause: BaseException) -> Unavailable:
    reason = str(cause) or type(cause).__name__
    description = f"No response from {url} ({reason}). Check the address, and with `lily status` that Lily is running."
    return Unavailable(0, [Problem("UNREACHABLE", description)])


def untrusted(url: str, cause: BaseException | None) -> Refused | None:
    """The error if the server's certificate, or the client's, is what keeps them from each other; else None."""
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        description = (
            f"The certificate of {url} is not trusted: {cause.verify_message}. Set LILY_CA to a file with the "
            "certificate of its authority, and use the host name that the certificate is for."
        )
        return Refused(0, [Problem("UNTRUSTED_SERVER", description)])
    if cause is not None and "CERTIFICATE_REQUIRED" in str(cause):
        description = f"{url} requires a certificate of the client. Set LILY_CLIENT_CERTIFICATE and LILY_CLIENT_KEY."
        return Refused(0, [Problem("CERTIFICATE_REQUIRED", description)])
    return None


def unsendable() -> Refused:
    """The cause can quote a header, and with it the token, so it is not part of the message."""
    description = "The request was not sent: it has a header that is not valid. Check the token."
    return Refused(0, [Problem("INVALID_REQUEST", description)])


def unexpected(status: int, what: str) -> Unexpected:
    return Unexpected(status, [Problem("UNEXPECTED_ANSWER", f"{what}. Check that LILY_URL is the address of a Lily.")])


def _problems(status: int, body: bytes) -> list[Problem]:
    """The problems in the contract's shape; a proxy in front of Lily sends bodies of its own, so then the status."""
    try:
        entries: list[Any] = orjson.loads(body)["errors"]
        return [
            Problem(str(entry["code"]), str(entry["description"]), str(entry.get("entity") or "")) for entry in entries
        ]
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return [Problem(_code(status), f"The API responded with {status} {_phrase(status)}".rstrip() + ".")]


def _code(status: int) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", _phrase(status).upper()) or f"STATUS_{status}"


def _phrase(status: int) -> str:
    return next((known.phrase for known in HTTPStatus if known == status), "")


def _sentence(problem: Problem) -> str:
    return f"{problem.code}: {problem.description}" + (f" ({problem.entity})" if problem.entity else "")


def _seconds(retry_after: str) -> float | None:
    """Seconds only: Lily sends no dates, and a date would depend on the server's clock."""
    return min(float(retry_after), _LONGEST_RETRY_AFTER) if re.fullmatch(r"\d{1,9}", retry_after, re.ASCII) else None
