"""Text of others, fit to be shown: legible, and no longer than the receiver permits."""

import json
import re
from collections.abc import Callable
from typing import Any

from lily.outbound import endpoint

ELLIPSIS = "…"
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"  # but line breaks and tabs
_DIRECTIONS = r"\u202a-\u202e\u2066-\u2069"  # by which a text is shown in another order, and reads as another
_HIDDEN = re.compile(f"[{_CONTROLS}{_DIRECTIONS}]")


def legible(text: str) -> str:
    """Without control characters but line breaks and tabs, and valid as UTF-8."""
    valid = text.encode("utf-8", "replace").decode()
    return _HIDDEN.sub("", valid.replace("\r\n", "\n").replace("\r", "\n")).strip()


def one_line(text: str) -> str:
    return " ".join(legible(text).split())


def shortened(text: str, limit: int, written: Callable[[str], str] = str) -> str:
    """The text as `written` (escaped, for example) letter by letter, in at most `limit` characters."""
    if len(whole := "".join(map(written, text))) <= limit:
        return whole
    kept, room = [], limit - len(ELLIPSIS)
    for letter in text:
        room -= len(piece := written(letter))
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept) + ELLIPSIS


def shortened_bytes(text: str, limit: int) -> str:
    """In at most `limit` bytes of UTF-8."""
    if len(raw := text.encode()) <= limit:
        return text
    return raw[: limit - len(ELLIPSIS.encode())].decode("utf-8", "ignore") + ELLIPSIS


def link(url: str) -> str:
    """The URL if people can safely open it: http or https alone; otherwise empty."""
    try:
        endpoint(url.partition("#")[0])
    except ValueError:
        return ""
    return url if url.isascii() and url.isprintable() and not set(url) & set(" \"'<>\\") else ""


def encoded(body: Any) -> bytes:
    """As JSON. What JSON does not have, in the data of a notification, is written as text."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
