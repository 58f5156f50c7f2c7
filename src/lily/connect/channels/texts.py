"""Text of others, fit to be shown: legible, and no longer than the receiver permits."""

import json
from collections.abc import Callable
from typing import Any

from lily.outbound import endpoint

ELLIPSIS = "…"
_KEPT = frozenset("\n\t")
# They change the order in which letters are shown, so that a text reads as something else.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def legible(text: str) -> str:
    """Without control characters but line breaks and tabs, and valid as UTF-8."""
    valid = text.encode("utf-8", "replace").decode()
    unified = valid.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(one for one in unified if one in _KEPT or (_is_shown(one) and one not in _DIRECTIONS)).strip()


def one_line(text: str) -> str:
    return " ".join(legible(text).split())


def _is_shown(letter: str) -> bool:
    return not (ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 or letter in "\u2028\u2029")


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
