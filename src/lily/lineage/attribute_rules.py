"""Rules of a tenant that propagate an attribute: which attribute, along which edges, and how values combine."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson

from lily.lineage.definitions import Direction, reach_as_dict
from lily.model.errors import Problem
from lily.model.layers import TAGS
from lily.model.statements import NAME_ATTRIBUTES
from lily.model.values import MAX_ITEMS, MAX_KEY

Mode = Literal["set-if-empty", "add", "override"]
WHOLE_VALUE = ""  # the item of a value that propagates as a whole
MAX_ITEM = 200  # characters; a longer item is hashed, because an index entry in PostgreSQL holds 2,700 bytes
MAX_ADDED = 256 << 10  # bytes that a rule adds to a list at most: Kafka limits the size of a record
_IDENTITY = frozenset({"name", "qualified_name", "parent", "created_by", "data_source"})
_SINGLE = NAME_ATTRIBUTES | {"description"}


@dataclass(frozen=True, slots=True)
class AttributeRule:
    key: str  # the name, case-folded
    name: str  # as first stated
    attribute: str
    mode: Mode
    direction: Direction = "downstream"
    max_depth: int | None = None  # in edges
    edge_types: frozenset[str] | None = None  # None means all but `influences`

    @property
    def stopped_by_masking(self) -> bool:
        """Never: masking hides data values, not attributes such as the owner."""
        return False

    def as_dict(self) -> dict[str, Any]:
        """The fields of the definition, as the API takes and shows them."""
        return {"name": self.name, "attribute": self.attribute, "mode": self.mode, **reach_as_dict(self)}

    def derives(self, item: str) -> bool:
        """Whether a rule of this mode derives such an item."""
        return (item == WHOLE_VALUE) == (self.mode != "add")


class StatedValue(NamedTuple):
    """The value of an attribute that an asset states itself. The enriched layer is left out: rules write it."""

    source: Any = None
    user: Any = None

    @property
    def own(self) -> Any:
        return self.source if self.user is None else self.user


NOT_STATED = StatedValue()


class DerivedValue(NamedTuple):
    """A value from another asset. `via` is the neighbour that has it, one edge nearer to the nearest origin."""

    value: Any
    via: str
    depth: int


DerivedValues = Mapping[str, DerivedValue]  # by item


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def canonical(value: Any) -> str:
    """The same text for values that are equal in JSON, and only for those. (In Python, 1 equals True.)"""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def items_of(value: Any) -> dict[str, Any]:
    """The items of a list by their name; a single value counts as a list of one."""
    items = value if isinstance(value, list) else [value]
    return {_item_name(item): item for item in items if not is_empty(item)}


def origin_values(rule: AttributeRule, value: StatedValue, *, root: bool) -> dict[str, Any]:
    """The values, by item, of which an asset is an origin; it derives none of these from others. An asset is a `root`
    if no edge that the rule follows leads to it."""
    if rule.mode == "add":
        return items_of(value.own)
    if is_empty(value.own) or (rule.mode == "override" and is_empty(value.user) and not root):
        return {}
    return {WHOLE_VALUE: value.own}


def blocks(rule: AttributeRule, value: StatedValue) -> bool:
    """Whether values of other assets do not pass through an asset that is not a root."""
    return rule.mode != "add" and not is_empty(value.user if rule.mode == "override" else value.own)


def enriched_value(rule: AttributeRule, stated: StatedValue, derived: DerivedValues) -> Any:
    """The value that the rule states in the enriched layer, or None. That layer is shown instead of the source's, so a
    list begins with the source's items."""
    if rule.mode != "add":
        return derived[WHOLE_VALUE].value if derived else None
    own = items if isinstance(items := stated.source, list) else [] if is_empty(items) else [items]
    known = {canonical(item) for item in own}
    items_by_text = {canonical(value.value): value.value for value in derived.values()}
    added = _fitting([(text, items_by_text[text]) for text in sorted(items_by_text.keys() - known)], len(own))
    return [*own, *added] if added else None


def rule_problem(attribute: str, mode: Mode) -> Problem | None:
    """Why a rule for this attribute and mode is not possible, and what to do instead; None if it is possible."""
    if attribute == TAGS:
        text = 'tags propagate by their definitions: POST /tags {"name", "propagates": true}'
        return Problem("NOT_DERIVABLE", text, "attribute")
    if attribute in _IDENTITY:
        text = f"{attribute} identifies the asset and cannot come from another one; use owner, description, "
        return Problem("NOT_DERIVABLE", text + "business_terms or a custom attribute", "attribute")
    if not attribute or attribute.startswith("$") or len(attribute) > MAX_KEY or not attribute.isprintable():
        text = "an attribute's name must be printable and must not begin with $; use one that assets have"
        return Problem("INVALID_VALUE", text, "attribute")
    if "," in attribute:
        text = "a rule's attribute must have no comma in its name; state the value under another name"
        return Problem("INVALID_VALUE", text, "attribute")
    if mode == "add" and attribute in _SINGLE:
        text = f"{attribute} holds a single value and add is for lists; use set-if-empty or override"
        return Problem("INVALID_VALUE", text, "mode")
    return None


def _item_name(item: Any) -> str:
    text = canonical(item)
    return text if len(text) <= MAX_ITEM else f"{text[:40]}…{hashlib.sha256(text.encode()).hexdigest()}"


def _fitting(added: Sequence[tuple[str, Any]], taken: int) -> list[Any]:
    """As many items as a list and an event can hold."""
    fitting: list[Any] = []
    size = 0
    for text, value in added[: max(MAX_ITEMS - taken, 0)]:
        size += len(text.encode())
        if size > MAX_ADDED:
            break
        fitting.append(value)
    return fitting
