"""Marks of what has changed in a tenant: propagation recomputes derived values around them."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple


class AssetMark(NamedTuple):
    """An asset that is new, or whose tags, suppressions, deletion, parent or attributes changed."""

    asset_id: str
    position: int = 0
    correlation: str = ""  # of the write that changed it
    tags: bool = True  # False: nothing changed that tags depend on
    attributes: frozenset[str] | None = None  # only these may have changed; None means any
    placed: bool = False  # of what tags depend on only the parent changed


class EdgeMark(NamedTuple):
    from_id: str
    to_id: str
    position: int = 0
    correlation: str = ""


@dataclass(slots=True)
class Marks:
    """Everything that changed in one tenant."""

    assets: list[AssetMark] = field(default_factory=list)
    edges: list[EdgeMark] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)  # the keys of tags whose definition changed
    rules: set[str] = field(default_factory=set)  # the keys of attribute rules that changed
    deletion: bool = False  # the setting `on_delete` changed

    @property
    def any(self) -> bool:
        return bool(self.assets or self.edges or self.tags or self.rules or self.deletion)

    @property
    def digest(self) -> str:
        """The same for the same changes, of all that derived tags depend on."""
        assets = [(mark.asset_id, mark.position, mark.placed) for mark in self.assets if mark.tags]
        told = (assets, [tuple(mark) for mark in self.edges], sorted(self.tags), self.deletion)
        return blake2b(repr(told).encode(), digest_size=16).hexdigest()
