"""Where people are mentioned in a text."""

import re
from collections.abc import Sequence

from lily.connect.channels.texts import legible, one_line
from lily.plugins import Mention, Notification

MAX_MENTIONS = 50  # so that they leave room for the text


def text_of(notification: Notification) -> str:
    """Its text, with the names of all who are mentioned, for a channel that has no mentions."""
    pieces = with_mentions(legible(notification.text), notification.mentions)
    return "".join(piece if isinstance(piece, str) else f"@{one_line(piece.name)}" for piece in pieces).strip()


def with_mentions(text: str, mentions: Sequence[Mention]) -> list[str | Mention]:
    """The text in pieces, with a mention in place of each `@name`; those that it does not have are at its end."""
    by_name = {name: one for one in mentions[:MAX_MENTIONS] if (name := one_line(one.name))}
    if not by_name:
        return [text]
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    pieces: list[str | Mention] = []
    for number, piece in enumerate(re.split(f"@({names})(?!\\w)", text)):
        pieces.append(by_name[piece] if number % 2 else piece)
    missing = [one for one in by_name.values() if one not in pieces]
    for number, one in enumerate(missing):
        pieces += [" " if number else "\n" if text else "", one]
    return [piece for piece in pieces if piece]
