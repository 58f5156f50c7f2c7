"""What ended without authority and still conducts protective tags, until the end is confirmed or undone.

An item is named by its kind and keys, so nothing has to be stored of it. What a person reviews is named by that and by
what was shown: the same edge may be masked when it is listed, and deleted by somebody else before it is confirmed.
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import orjson

from lily.model.edges import MAX_TYPE, EdgeKey
from lily.model.ids import looks_like_uuid
from lily.model.values import MAX_TAG

PendingKind = Literal["tag", "parent", "edge", "claim", "deletion"]
KINDS: tuple[PendingKind, ...] = get_args(PendingKind)  # in the order in which they are listed

# Of each kind: how many ids name the item, and how long the text after them may be.
_IDS: Mapping[PendingKind, int] = {"tag": 1, "parent": 2, "edge": 2, "claim": 3, "deletion": 1}
_TEXT: Mapping[PendingKind, int] = {"tag": MAX_TAG, "parent": 0, "edge": MAX_TYPE, "claim": MAX_TYPE, "deletion": 0}

_SEEN = "."  # in the id of what is reviewed, between the item and the digest of what was shown
_DIGITS = 32


class PendingId(NamedTuple):
    """`keys` are: of a tag its asset and key, of a parent the child and itself, of an edge its ends and type, of a
    claim the job and the edge, of a deletion the asset."""

    kind: PendingKind
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(orjson.dumps([self.kind, *self.keys])).rstrip(b"=").decode()

    @property
    def edge(self) -> EdgeKey:
        """Of an edge or a claim."""
        return EdgeKey(*self.keys[-3:])

    @property
    def assets(self) -> tuple[str, ...]:
        """The assets that it is about: a caller who may not read one of them does not see the item."""
        return self.keys[: _IDS[self.kind]]


class ReviewedId(NamedTuple):
    """An item as it was shown. `seen` is of the tags that it kept, and of who ended it and when."""

    item: PendingId
    seen: str

    def __str__(self) -> str:
        return f"{self.item}{_SEEN}{self.seen}"


def digest_of(*shown: object) -> str:
    return hashlib.sha256(orjson.dumps(shown)).hexdigest()[:_DIGITS]


def parse_reviewed_id(text: str) -> ReviewedId:
    """Raises ValueError if it is not the id of an item with what was shown of it."""
    item, _, seen = text.partition(_SEEN)
    if len(seen) != _DIGITS:
        raise ValueError("not an id")
    return ReviewedId(parse_pending_id(item), seen)


def parse_pending_id(text: str) -> PendingId:
    """Raises ValueError if it is not the id of an item."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError as error:  # of the base64, the JSON or a character that is not ASCII
        raise ValueError("not an id") from error
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts) or parts[:1] == []:
        raise ValueError("not an id")
    kind, *keys = parts
    if kind not in KINDS:
        raise ValueError("not a kind")
    ids, text_length = _IDS[kind], _TEXT[kind]
    if len(keys) != ids + bool(text_length) or not all(map(looks_like_uuid, keys[:ids])):
        raise ValueError("not the keys of this kind")
    if any("\x00" in key or len(key) > max(text_length, 36) for key in keys):
        raise ValueError("not a name")
    return PendingId(kind, (*(key.lower() for key in keys[:ids]), *keys[ids:]))
