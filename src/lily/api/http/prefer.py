"""`Prefer: wait=N` (RFC 7240): how long a caller would wait for its write to be readable."""

import re

from starlette.datastructures import Headers

from lily.model.errors import Problem, Refused

_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,9})\"?", re.ASCII)


def wait_of(headers: Headers, longest: int) -> int | None:
    """Whole seconds, at most the longest; None where nothing is preferred. Other preferences are not our concern."""
    for preference in ",".join(headers.getlist("prefer")).split(","):
        token = preference.partition(";")[0].strip()
        if not token.lower().startswith("wait"):
            continue
        match = _WAIT.fullmatch(token.lower())
        if match is None:
            raise Refused(Problem("INVALID_VALUE", "Prefer: wait=N takes whole seconds, such as wait=5", "Prefer"))
        return min(int(match[1]), longest)
    return None
