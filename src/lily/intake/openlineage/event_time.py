"""Reads `eventTime` as producers write it: Java omits zero seconds, Python omits the zone, others write `+0100`."""

import re
from typing import Any

from lily.model.errors import Problem, Refused

_WRITTEN = re.compile(
    r"(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2})(:\d{2})?([.,]\d{1,12})?"
    r"\s?(?:([Zz])|([+-]\d{2})(?::?(\d{2}))?)?(?:\[[\w/+-]+\])?",
    re.ASCII,
)


def rfc3339(given: Any) -> str:
    """Adds missing seconds and the zone (UTC by default). Text that is not a time is returned unchanged."""
    if given is None:
        raise Refused(Problem("MISSING_FIELD", "eventTime is required", "eventTime"))
    if not isinstance(given, str):
        raise Refused(Problem("INVALID_TYPE", "eventTime must be a string", "eventTime"))
    match = _WRITTEN.fullmatch(given.strip())
    if match is None:
        return given
    moment, seconds, fraction, zulu, hours, minutes = match.groups()
    zone = "Z" if zulu or not hours else f"{hours}:{minutes or '00'}"
    return f"{moment}{seconds or ':00'}{(fraction or '').replace(',', '.')}{zone}"
