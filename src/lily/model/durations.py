"""Durations such as 90s, 30m, 1h, 7d: parsed, and shown."""

import re

from lily.model.errors import Terminal

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
MAX_SECONDS = 36_500 * SECONDS["d"]  # a hundred years; PostgreSQL's timestamps end somewhere beyond
EXAMPLES = "30m, 1h, 7d or 1h30m"


class BadDuration(Terminal):
    """The text is not a valid duration."""


def parse_duration(text: str) -> int:
    """Returns seconds. Raises BadDuration unless the text is a positive number of s, m, h, d or w, such as `1h30m`."""
    if not re.fullmatch(r"(\d{1,12}[smhdw])+", text, re.ASCII):
        raise BadDuration(
            f"{text!r} is not a duration. Use whole numbers of s, m, h, d or w (seconds to weeks): {EXAMPLES}."
        )
    seconds = sum(int(amount) * SECONDS[unit] for amount, unit in re.findall(r"(\d+)([smhdw])", text))
    if seconds == 0:
        raise BadDuration(f"{text!r} is zero. Use a longer time, such as {EXAMPLES}.")
    if seconds > MAX_SECONDS:
        raise BadDuration(f"{text!r} is more than 100 years. Use a shorter time, such as {EXAMPLES}.")
    return seconds


def shown_duration(seconds: int) -> str:
    """As `parse_duration` takes it, in hours, minutes and seconds: `24h`, `1h30m`."""
    parts = []
    for unit in ("h", "m", "s"):
        amount, seconds = divmod(seconds, SECONDS[unit])
        parts += [f"{amount}{unit}"] if amount else []
    return "".join(parts) or "0s"
