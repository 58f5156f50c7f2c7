"""What the paths of a mapping are applied to: a message, one of its items, and the series of the item."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import orjson

from lily.intake.mapped.paths import Path

MAX_VALUE = 4_096  # characters of one value within a text


class Message:
    """A message of a source. What depends on the message alone is computed once, and not for each of its items: with
    thousands of them, the cost would be the square of its size."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self._known: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def shown(self, value: Any) -> str | None:
        """A value of the message as text: lists and objects as JSON with sorted keys. None for null."""
        if value is None:
            return None
        if isinstance(value, str):
            return value[:MAX_VALUE]
        # A list or object lives as long as the message, so until then no other has its id.
        return (
            str(self.once(("json", id(value)), lambda: _json(value)))
            if isinstance(value, dict | list)
            else _json(value)
        )


class Scope(NamedTuple):
    """`series` is empty if the item has none, or is not known to have one."""

    message: Message
    item: Any
    series: str = ""

    def find(self, path: Path) -> list[Any]:
        content = self.message.content
        if path.is_of_item:
            return path.find(content, self.item)
        found: list[Any] = self.message.once(path, lambda: path.find(content, None))
        return found


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()[:MAX_VALUE]
