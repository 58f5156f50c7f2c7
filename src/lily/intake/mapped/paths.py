"""Paths into a JSON document: a strict subset of JSONPath (RFC 9535).

`$` is the whole message and `@` the item. `.name`, `['any name']`, `[0]`, `[-1]` and `[*]` lead further. There are no
filters, no `..` and no slices: tenants write paths and senders write documents, so what a path costs must be bounded
by the size of the document (decision 36).
"""

import re
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, NamedTuple

MAX_PATH = 512
MAX_STEPS = 16
MAX_WILDCARDS = 2
MAX_FOUND = 2_000

_STEP = re.compile(
    r"\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|\.(?P<all>\*)"
    r"|\[(?:(?P<index>-?(?:0|[1-9][0-9]{0,5}))|(?P<every>\*)|'(?P<single>[^'\\]+)'|\"(?P<double>[^\"\\]+)\")\]",
    re.ASCII,
)


class Every(NamedTuple):
    """Every item of a list, or every value of an object."""


Step = str | int | Every


class Path(NamedTuple):
    text: str
    is_of_item: bool
    steps: tuple[Step, ...]

    def find(self, message: Any, item: Any) -> list[Any]:
        """What it leads to, at most MAX_FOUND values; nothing if a step leads nowhere."""
        found = [item if self.is_of_item else message]
        for step in self.steps:
            inside = chain.from_iterable(_inside(outer, step) for outer in found)
            found = list(islice(inside, MAX_FOUND))  # and no more than these are looked at
        return found


def is_path(text: str) -> bool:
    return text[:1] in {"$", "@"}


def read_path(text: str) -> Path:
    """Raises ValueError that names what is wrong."""
    if not is_path(text):
        raise ValueError(f"the path {text[:64]!r} must begin with $ (the message) or @ (the item)")
    if len(text) > MAX_PATH:
        raise ValueError(f"a path must not exceed {MAX_PATH} characters")
    steps: list[Step] = []
    place = 1
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            raise ValueError(
                f"the path {text[:64]!r} cannot be read from character {place + 1} on: use .name, ['name'], [0] or "
                "[*]; filters, slices and .. are not supported"
            )
        steps.append(_step(match))
        place = match.end()
    if len(steps) > MAX_STEPS or sum(isinstance(step, Every) for step in steps) > MAX_WILDCARDS:
        raise ValueError(f"a path must not have more than {MAX_STEPS} steps, of which {MAX_WILDCARDS} may be [*]")
    return Path(text, text[0] == "@", tuple(steps))


def _step(match: re.Match[str]) -> Step:
    if match["all"] or match["every"]:
        return Every()
    if match["index"] is not None:
        return int(match["index"])
    return match["name"] or match["single"] or match["double"]


def _inside(value: Any, step: Step) -> Iterable[Any]:
    if isinstance(step, Every):
        return value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    if isinstance(step, int):
        return (value[step],) if isinstance(value, list) and -len(value) <= step < len(value) else ()
    return (value[step],) if isinstance(value, dict) and step in value else ()
