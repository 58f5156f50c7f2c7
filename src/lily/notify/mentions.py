"""Mentions: what owners and teams are called where a message goes."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from lily.notify.matching import fold
from lily.notify.subscriptions import MAX_DESTINATION, OWNERS, Name, Section

Handle = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_DESTINATION)]
Handles = Mapping[str, Mapping[str, str]]  # by folded name: by channel, its name or its type


class Mention(Section):
    """`handles` by the name of a channel or by its type, such as `{"slack": "<@U024BE7LH>", "email": "a@example.org"}`.
    The name of a channel counts before its type."""

    name: Name
    handles: dict[Name, Handle] = Field(min_length=1, max_length=50)


def handle_of(handles: Handles, owner: str, channel: str, type_: str) -> str:
    """What the owner is called there; empty if that is not known."""
    found = handles.get(fold(owner), {})
    return found.get(channel) or found.get(type_) or ""


def mentioned(handles: Handles, owners: Iterable[str], channel: str, type_: str) -> dict[str, str]:
    """The handles of owners; owners without a handle are left out."""
    found = {owner: handle_of(handles, owner, channel, type_) for owner in sorted(owners)}
    return {owner: handle for owner, handle in found.items() if handle}


def destinations(destination: str, handles: Handles, owners: Iterable[str], channel: str, type_: str) -> list[str]:
    """Where a message goes: the destination, or for `@owners` the handles of the owners."""
    if destination != OWNERS:
        return [destination]
    return list(dict.fromkeys(mentioned(handles, owners, channel, type_).values()))
