"""A notification as an Adaptive Card, in fewer than the 28 KB of a message in Teams."""

import re
from collections.abc import Sequence
from typing import Any

from lily.connect.channels.subjects import facts, label, title_of
from lily.connect.channels.texts import legible, link, one_line, shortened_bytes
from lily.plugins import Mention, Notification

VERSION = "1.4"
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
CONTENT_TYPE = "application/vnd.microsoft.card.adaptive"
MAX_TITLE, MAX_TEXT, MAX_FACTS, MAX_NAME = 400, 7_000, 1_500, 60  # bytes; in JSON each may take two
MAX_MENTIONS = 20
COLOURS = {"info": "accent", "warning": "warning", "critical": "attention"}
_HANDLE = re.compile(r"[A-Za-z0-9._%+@-]{1,120}")  # a user principal name, or the id of an object

Element = dict[str, Any]


def message(notification: Notification) -> Element:
    return {
        "type": "message",
        "attachments": [{"contentType": CONTENT_TYPE, "contentUrl": None, "content": _card(notification)}],
    }


def _card(notification: Notification) -> Element:
    mentions = [one for one in notification.mentions[:MAX_MENTIONS] if _HANDLE.fullmatch(one.handle)]
    card: Element = {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": VERSION,
        "body": [*_text(notification), *_mentioned(mentions)],
        "msteams": {"width": "Full", "entities": [_entity(one) for one in mentions]},
    }
    if url := link(notification.url):
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": url}]
    return card


def _text(notification: Notification) -> list[Element]:
    """As runs of rich text, which are shown as they are: a plain block would take `[a](b)` for a link."""
    title = {"size": "large", "weight": "bolder", "color": COLOURS[notification.severity]}
    listed = "\n".join(f"{name}: {value}" for name, value in facts(notification))
    shown = [_rich(title_of(notification), MAX_TITLE, title) | {"id": label(notification.id)}]
    if text := legible(notification.text):
        shown.append(_rich(text, MAX_TEXT, {}))
    return [*shown, _rich(listed, MAX_FACTS, {"isSubtle": True, "size": "small"})]


def _rich(text: str, limit: int, style: Element) -> Element:
    run = {"type": "TextRun", "text": shortened_bytes(text, limit), **style}
    return {"type": "RichTextBlock", "inlines": [run]}


def _mentioned(mentions: Sequence[Mention]) -> list[Element]:
    """In a plain block of its own, the only place where Teams knows mentions."""
    return [{"type": "TextBlock", "wrap": True, "text": " ".join(map(_at, mentions))}] if mentions else []


def _entity(mention: Mention) -> Element:
    return {"type": "mention", "text": _at(mention), "mentioned": {"id": mention.handle, "name": _name(mention)}}


def _at(mention: Mention) -> str:
    return f"<at>{_name(mention)}</at>"


def _name(mention: Mention) -> str:
    """Without what a plain block takes for markup."""
    plain = re.sub(r"[^\w .,'-]|_", " ", one_line(mention.name))
    return shortened_bytes(" ".join(plain.split()) or mention.handle.partition("@")[0], MAX_NAME)
