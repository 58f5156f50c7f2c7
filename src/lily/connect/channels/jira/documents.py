"""A notification in Atlassian's document format."""

import re
from typing import Any

from lily.connect.channels.mentions import with_mentions
from lily.connect.channels.subjects import facts, title_of
from lily.connect.channels.texts import ELLIPSIS, legible, link, one_line, shortened
from lily.plugins import Mention, Notification

MAX_SUMMARY = 255
# Together with the nodes of the format they stay below the 32,767 characters that a description may have.
MAX_TEXT, MAX_LINES, MAX_FACTS = 10_000, 200, 2_000
_ACCOUNT = re.compile(r"[A-Za-z0-9:_-]{1,128}")

Node = dict[str, Any]


def summary(notification: Notification) -> str:
    return shortened(title_of(notification), MAX_SUMMARY)


def description(notification: Notification) -> Node:
    return _document(_paragraphs(notification))


def comment(notification: Notification) -> Node:
    """As the description, under the title of this change."""
    heading = {"type": "text", "text": summary(notification), "marks": [{"type": "strong"}]}
    return _document([_paragraph([heading]), *_paragraphs(notification)])


def _document(content: list[Node]) -> Node:
    return {"type": "doc", "version": 1, "content": content}


def _paragraphs(notification: Notification) -> list[Node]:
    text = shortened(_first_lines(legible(notification.text)), MAX_TEXT)
    found = [_paragraph(_inlines(text, notification))] if text or notification.mentions else []
    listed = "\n".join(f"{name}: {value}" for name, value in facts(notification))
    found.append(_paragraph(_lines(shortened(listed, MAX_FACTS))))
    if url := link(notification.url):
        marks = [{"type": "link", "attrs": {"href": url}}]
        found.append(_paragraph([{"type": "text", "text": "Open", "marks": marks}]))
    return found


def _first_lines(text: str) -> str:
    lines = text.split("\n")
    return text if len(lines) <= MAX_LINES else "\n".join(lines[:MAX_LINES]) + ELLIPSIS


def _paragraph(content: list[Node]) -> Node:
    return {"type": "paragraph", "content": content}


def _inlines(text: str, notification: Notification) -> list[Node]:
    found: list[Node] = []
    for piece in with_mentions(text, notification.mentions):
        found += [_mention(piece)] if isinstance(piece, Mention) else _lines(piece)
    return found


def _lines(text: str) -> list[Node]:
    """A text node has neither line breaks nor nothing at all."""
    found: list[Node] = []
    for number, line in enumerate(text.split("\n")):
        found += [{"type": "hardBreak"}] if number else []
        found += [{"type": "text", "text": line}] if line else []
    return found


def _mention(mention: Mention) -> Node:
    name = f"@{one_line(mention.name)}"
    if _ACCOUNT.fullmatch(mention.handle):
        return {"type": "mention", "attrs": {"id": mention.handle, "text": name}}
    return {"type": "text", "text": name}
