"""Short names for what is pending: an id has more than 200 characters."""

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lily.model.errors import Terminal

if TYPE_CHECKING:  # the client takes a while to import, and most commands do not need it
    from lily.client import Lily

LENGTH = 10
_SHORT = re.compile(rf"[0-9a-f]{{1,{LENGTH}}}")  # an id never looks like this: it is JSON in base64


def short_id(item_id: str) -> str:
    """The same for the same id only, so it is another one too if the item has changed since it was listed."""
    return hashlib.sha256(item_id.encode()).hexdigest()[:LENGTH]


def chosen_items(lily: "Lily", given: Sequence[str]) -> list[str]:
    """The ids of items that are named by short ids, or their beginnings. Raises Terminal if one is not pending, or if
    several begin so."""
    if not any(map(_SHORT.fullmatch, given)):
        return list(given)
    pending = {short_id(one["id"]): one["id"] for one in lily.pending_protections()}
    return [_chosen(pending, one) if _SHORT.fullmatch(one) else one for one in given]


def _chosen(pending: dict[str, str], beginning: str) -> str:
    found = [item for short, item in pending.items() if short.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Terminal(f"{len(found)} items begin with {beginning}; name more of it.")
    raise Terminal(f"No item {beginning} is pending. What has changed has another name: see `lily protections list`.")
