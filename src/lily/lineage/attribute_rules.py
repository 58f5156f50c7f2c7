"""How an attribute travels: a rule of the tenant names it, and says what its value does where it arrives."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson

from lily.lineage.definitions import Direction
from lily.model.errors import Problem
from lily.model.layers import TAGS
from lily.model.statements import NAME_ATTRIBUTES
from lily.model.values import MAX_ITEMS, MAX_KEY

Mode = Literal["set-if-empty", "add", "override"]
WHOLE = ""  # the item of a value that travels as one
MAX_ITEM = 200  # characters of an item that names itself: an index row of PostgreSQL takes 2,700 bytes
MAX_ADDED = 256 << 10  # bytes that a rule adds to a list at most: the log takes no event of any size
_IDENTITY = frozenset({"name", "qualified_name", "parent", "created_by", "data_source"})
_SINGLE = NAME_ATTRIBUTES | {"description"}


@dataclass(frozen=True, slots=True)
class AttributeRule:
    key: str  # the name, folded
    name: str  # as first given
    attribute: str
    mode: Mode
    direction: Direction = "downstream"
    max_depth: int | None = None  # in edges
    edge_types: frozenset[str] | None = None  # None: all

    @property
    def stopped_by_masking(self) -> bool:
        """Masking hides values of the data, and not who owns it."""
        return False

    def fits(self, item: str) -> bool:
        """Whether it is a rule of this mode that has such items."""
        return (item == WHOLE) == (self.mode != "add")


class Holder(NamedTuple):
    """What an asset itself says about an attribute. The enriched layer never counts: rules write it."""

    source: Any = None
    user: Any = None

    @property
    def own(self) -> Any:
        return self.source if self.user is None else self.user


SILENT = Holder()


class Label(NamedTuple):
    """A value that came from elsewhere: `via` has it too, one edge nearer to the nearest origin."""

    value: Any
    via: str
    depth: int


Labels = Mapping[str, Label]  # by item


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def canonical(value: Any) -> str:
    """Equal for values that are equal in JSON, and only for those: to Python, 1 and true are equal as well."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def items_of(value: Any) -> dict[str, Any]:
    """The items of a list, each under its own name; a single value counts as a list of one."""
    items = value if isinstance(value, list) else [value]
    return {_item_name(item): item for item in items if not is_empty(item)}


def sets_out(rule: AttributeRule, holder: Holder, *, root: bool) -> dict[str, Any]:
    """By item, what begins to travel at an asset, and is not taken there from others. `root`: no edge that the rule
    passes leads to it."""
    if rule.mode == "add":
        return items_of(holder.own)
    if is_empty(holder.own) or (rule.mode == "override" and is_empty(holder.user) and not root):
        return {}
    return {WHOLE: holder.own}


def stops(rule: AttributeRule, holder: Holder) -> bool:
    """Whether nothing from elsewhere passes through an asset to which an edge leads."""
    return rule.mode != "add" and not is_empty(holder.user if rule.mode == "override" else holder.own)


def enriched_value(rule: AttributeRule, holder: Holder, labels: Labels) -> Any:
    """The attribute as the rule states it in the enriched layer, None where it has nothing to state. That layer is
    shown before the source's, so a list begins with what the source has."""
    if rule.mode != "add":
        return labels[WHOLE].value if labels else None
    there = items if isinstance(items := holder.source, list) else [] if is_empty(items) else [items]
    known = {canonical(item) for item in there}
    came = {canonical(label.value): label.value for label in labels.values()}
    added = _fitting([(text, came[text]) for text in sorted(came.keys() - known)], len(there))
    return [*there, *added] if added else None


def refusal(attribute: str, mode: Mode) -> Problem | None:
    """Why there can be no such rule, and what to do instead."""
    if attribute == TAGS:
        says = 'tags travel by their definitions: POST /tags {"name", "propagates": true}'
        return Problem("NOT_DERIVABLE", says, "attribute")
    if attribute in _IDENTITY:
        says = f"{attribute} says which asset it is and cannot come from another one; name owner, description, "
        return Problem("NOT_DERIVABLE", says + "business_terms or an attribute of your own", "attribute")
    if not attribute or attribute.startswith("$") or len(attribute) > MAX_KEY or not attribute.isprintable():
        says = "an attribute's name is printable and does not begin with $; name one that assets have"
        return Problem("INVALID_VALUE", says, "attribute")
    if "," in attribute:
        says = "a rule's attribute has no comma in its name; state the value under another name"
        return Problem("INVALID_VALUE", says, "attribute")
    if mode == "add" and attribute in _SINGLE:
        says = f"{attribute} holds one value, and add is for lists; use set-if-empty or override"
        return Problem("INVALID_VALUE", says, "mode")
    return None


def _item_name(item: Any) -> str:
    text = canonical(item)
    return text if len(text) <= MAX_ITEM else f"{text[:40]}…{hashlib.sha256(text.encode()).hexdigest()}"


def _fitting(added: Sequence[tuple[str, Any]], taken: int) -> list[Any]:
    """As many as a list and an event can hold."""
    fitting: list[Any] = []
    size = 0
    for text, value in added[: max(MAX_ITEMS - taken, 0)]:
        size += len(text.encode())
        if size > MAX_ADDED:
            break
        fitting.append(value)
    return fitting
