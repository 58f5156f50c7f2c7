"""A notification in Block Kit, within its limits."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lily.connect.channels.mentions import with_mentions
from lily.connect.channels.subjects import facts, incident_of, label, title_of
from lily.connect.channels.texts import ELLIPSIS, legible, link, one_line, shortened
from lily.plugins import Mention, Notification

ACKNOWLEDGE = "lily.acknowledge"  # the action that Slack sends back when someone clicks the button
MAX_HEADER, MAX_SECTION, MAX_CONTEXT, MAX_VALUE, MAX_BLOCK_ID = 150, 3_000, 2_000, 2_000, 255
SIGNS = {"info": ":information_source:", "warning": ":warning:", "critical": ":rotating_light:"}
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_USER, _GROUP = re.compile(r"[UW][A-Z0-9]{2,20}"), re.compile(r"S[A-Z0-9]{2,20}")
_EVERYONE = frozenset({"here", "channel", "everyone"})

Block = dict[str, Any]


def message(notification: Notification, *, acknowledgeable: bool) -> Block:
    """`text` is what Slack shows where it shows no blocks, on a lock screen for example."""
    blocks = [
        _header(notification),
        *_section(notification),
        _context(notification),
        *_actions(notification, acknowledgeable=acknowledgeable),
    ]
    return {"text": shortened(title_of(notification), MAX_SECTION, escaped), "blocks": blocks}


def escaped(letter: str) -> str:
    return _ESCAPED.get(letter, letter)


def _header(notification: Notification) -> Block:
    title = shortened(title_of(notification), MAX_HEADER, escaped)
    text = {"type": "plain_text", "text": title, "emoji": False}
    return {"type": "header", "block_id": label(notification.id, MAX_BLOCK_ID), "text": text}


def _section(notification: Notification) -> list[Block]:
    tokens = _tokens(with_mentions(legible(notification.text), notification.mentions))
    text = _fitted(list(tokens), MAX_SECTION)
    return [{"type": "section", "text": _verbatim(text)}] if text else []


def _context(notification: Notification) -> Block:
    listed = " · ".join(f"{name}: {value}" for name, value in facts(notification))
    sign = SIGNS[notification.severity]
    text = f"{sign} {shortened(listed, MAX_CONTEXT - len(sign) - 1, escaped)}"
    return {"type": "context", "elements": [_verbatim(text)]}


def _verbatim(text: str) -> Block:
    """Slack makes no links and mentions of its own: it would take `@here` in a description for one."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _actions(notification: Notification, *, acknowledgeable: bool) -> list[Block]:
    incident, elements = incident_of(notification), []
    if url := link(notification.url):
        elements.append(_button("Open", "lily.open") | {"url": url})
    if acknowledgeable and incident.state == "open" and 0 < len(incident.id) <= MAX_VALUE:
        elements.append(_button("Acknowledge", ACKNOWLEDGE) | {"style": "primary", "value": incident.id})
    return [{"type": "actions", "elements": elements}] if elements else []


def _button(text: str, action: str) -> Block:
    return {"type": "button", "action_id": action, "text": {"type": "plain_text", "text": text}}


def _tokens(pieces: Iterable[str | Mention]) -> Iterator[tuple[str, bool]]:
    """Letters, and mentions, which are kept where the text is too long: they are why people see the message."""
    for piece in pieces:
        if isinstance(piece, Mention):
            yield _mention(piece), True
        else:
            is_space = piece.isspace()  # between mentions
            yield from ((escaped(letter), is_space) for letter in piece)


def _fitted(tokens: list[tuple[str, bool]], limit: int) -> str:
    if len(whole := "".join(token for token, _ in tokens)) <= limit:
        return whole
    room = limit - len(ELLIPSIS) - sum(len(token) for token, is_kept in tokens if is_kept)
    found, is_cut = [], False
    for token, is_kept in tokens:
        room -= 0 if is_kept else len(token)
        if is_kept or room >= 0:
            found.append(token)
        elif not is_cut:
            found.append(ELLIPSIS)
            is_cut = True
    return "".join(found)


def _mention(mention: Mention) -> str:
    """A handle that is none of Slack's is shown as a name: Slack would show its characters."""
    if _USER.fullmatch(mention.handle):
        return f"<@{mention.handle}>"
    if _GROUP.fullmatch(mention.handle):
        return f"<!subteam^{mention.handle}>"
    if mention.handle in _EVERYONE:
        return f"<!{mention.handle}>"
    return shortened(f"@{one_line(mention.name)}", 50, escaped)
