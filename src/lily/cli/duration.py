"""Durations as people write them: 90s, 30m, 1h, 7d."""

import re

from lily.model.errors import Terminal

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class BadDuration(Terminal):
    """Not a duration."""


def parse_duration(text: str) -> int:
    """Seconds; raises BadDuration for anything but whole, positive amounts of s, m, h, d or w, as in `1h30m`."""
    if not re.fullmatch(r"(\d+[smhdw])+", text):
        raise BadDuration(f"{text!r} is no duration. Write a number with s, m, h, d or w, such as 30m, 1h or 7d.")
    seconds = sum(int(amount) * SECONDS[unit] for amount, unit in re.findall(r"(\d+)([smhdw])", text))
    if seconds == 0:
        raise BadDuration(f"{text!r} is over before it begins. Name a time longer than zero, such as 1h.")
    return seconds
