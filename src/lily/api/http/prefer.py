"""`Prefer: wait=N` (RFC 7240): how long a caller prefers to wait until its write can be read."""

import re

from starlette.datastructures import Headers

from lily.model.errors import Problem, Refused

_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,9})\"?", re.ASCII)


def wait_of(headers: Headers, maximum: int) -> int | None:
    """Whole seconds, at most `maximum`; None without such a preference. Other preferences are ignored. Raises Refused
    if N is not a number."""
    for preference in ",".join(headers.getlist("prefer")).split(","):
        token = preference.partition(";")[0].strip()
        if not token.lower().startswith("wait"):
            continue
        match = _WAIT.fullmatch(token.lower())
        if match is None:
            description = f"{token!r} is not valid; send whole seconds, such as wait=5"
            raise Refused(Problem("INVALID_VALUE", description, "Prefer"))
        return min(int(match[1]), maximum)
    return None
