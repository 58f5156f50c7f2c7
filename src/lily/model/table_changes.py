"""What an event states about tables as a whole, where the door cannot know all that follows (docs/decisions/0045).

A renamed table takes its columns with it, and the catalogue may know more of them than the event names. What a sender
may delete depends on its rights and on what others have stated. The worker looks both up.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lily.model.errors import Problem, Refused
from lily.model.run_queries import QuerySender, read_sender
from lily.model.values import MAX_QUALIFIED_NAME

MAX_TABLES = 10_000  # as many as one event may describe
MAX_SCOPE = 64


class SenderLimits(NamedTuple):
    """A sender that may not delete everything. `sender` is None if no policy restricts it. One without
    `metadata:write` deletes only its `own_only`: what nobody else has stated."""

    sender: QuerySender | None
    own_only: bool


class TableChanges(NamedTuple):
    """By qualified name. `renamed` are pairs of an old name and the name under which its content is found now.
    `dropped` are deleted only as far as the limits of the sender permit; None if it has none. `scope` is that of the
    schemas that the sender states of what it writes: the columns that move are such a schema of the new name."""

    renamed: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    limits: SenderLimits | None = None
    scope: str = ""

    def as_data(self) -> dict[str, Any]:
        limits = self.limits
        return {
            **({"renamed": [list(pair) for pair in self.renamed]} if self.renamed else {}),
            **({"dropped": list(self.dropped)} if self.dropped else {}),
            **({"scope": self.scope} if self.scope else {}),
            **({"own_only": limits.own_only} if limits else {}),
            **({"sender": limits.sender.as_data()} if limits and limits.sender else {}),
        }


NO_CHANGES = TableChanges()


class Renames:
    """Renames in the order in which they happened. Names may be used again: `a → tmp, b → a, tmp → b` exchanges two
    tables."""

    def __init__(self) -> None:
        self._pairs: list[tuple[str, str]] = []

    def add(self, old: str, new: str) -> None:
        if old != new:
            self._pairs.append((old, new))

    def content(self) -> dict[str, str]:
        """By name of a table that exists afterwards: the name that its content had before."""
        held: dict[str, str] = {}
        names: dict[
            str, str
        ] = {}  # that a content has: one at a time, or a table would be copied as often as it is named
        for old, new in self._pairs:
            content = held.pop(old, old)
            if held.get(names.get(content, "")) == content:
                del held[names[content]]
            held[new], names[content] = content, new
            if held[new] == new:  # nobody reports that a table got its own name back: these changed at the same time
                return {new: old for old, new in dict(self._pairs).items()}
        return held

    def moved(self) -> tuple[tuple[str, str], ...]:
        return tuple((old, new) for new, old in self.content().items())

    def gone(self) -> list[str]:
        """The names that no table has any more."""
        held = self.content()
        return list(dict.fromkeys(name for pair in self._pairs for name in pair if name not in held))


def read_table_changes(given: Any) -> TableChanges:
    """Raises Refused."""
    if given is None:
        return NO_CHANGES
    if not isinstance(given, Mapping):
        raise _invalid()
    renamed, dropped, scope = given.get("renamed", []), given.get("dropped", []), given.get("scope", "")
    if not isinstance(renamed, list) or not isinstance(dropped, list) or len(renamed) + len(dropped) > MAX_TABLES:
        raise _invalid()
    if not all(isinstance(pair, list) and len(pair) == 2 and _are_names(pair) for pair in renamed):
        raise _invalid()
    if not _are_names(dropped):
        raise _invalid()
    if not isinstance(scope, str) or len(scope) > MAX_SCOPE:
        raise _invalid()
    return TableChanges(tuple((old, new) for old, new in renamed), tuple(dropped), _limits(given), scope)


def _limits(given: Mapping[str, Any]) -> SenderLimits | None:
    sender, own_only = given.get("sender"), given.get("own_only")
    if sender is None and own_only is None:
        return None
    return SenderLimits(None if sender is None else read_sender(sender), own_only is True)


def _are_names(given: Iterable[Any]) -> bool:
    return all(isinstance(name, str) and 0 < len(name) <= MAX_QUALIFIED_NAME for name in given)


def _invalid() -> Refused:
    described = "tables must be {renamed: pairs of names, dropped: names, own_only, sender, scope}"
    return Refused(Problem("INVALID_VALUE", described, "tables"))
