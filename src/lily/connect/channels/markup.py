"""A notification as HTML: escaped text, and a link."""

from html import escape

from lily.connect.channels.mentions import text_of
from lily.connect.channels.subjects import facts
from lily.connect.channels.texts import link, shortened
from lily.plugins import Notification

MAX_TEXT, MAX_FACTS = 20_000, 5_000


def html_of(notification: Notification, title: str = "") -> str:
    """`title` where the receiver has no place of its own for it."""
    text = _broken(shortened(text_of(notification), MAX_TEXT))
    listed = _broken(shortened("\n".join(f"{name}: {value}" for name, value in facts(notification)), MAX_FACTS))
    parts = [f"<p><b>{escape(title)}</b></p>"] if title else []
    parts += [f"<p>{text}</p>"] if text else []
    parts.append(f"<p>{listed}</p>")
    if url := link(notification.url):
        parts.append(f'<p><a href="{escape(url)}">Open</a></p>')
    return "".join(parts)


def _broken(text: str) -> str:
    return escape(text).replace("\n", "<br>")
