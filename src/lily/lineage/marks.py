"""What is dirty in a tenant: what propagation has to look at again."""

from dataclasses import dataclass, field
from typing import NamedTuple


class AssetMark(NamedTuple):
    """The tags, suppressions, deletion, parent or attributes of an asset changed, or it has come."""

    asset_id: str
    position: int = 0
    correlation: str = ""  # the write that did it
    tags: bool = True  # False: nothing changed that tags depend on
    attributes: frozenset[str] | None = None  # the only ones that may have changed; None: any of them


class EdgeMark(NamedTuple):
    from_id: str
    to_id: str
    position: int = 0
    correlation: str = ""


@dataclass(slots=True)
class Marks:
    """What is dirty in one tenant."""

    assets: list[AssetMark] = field(default_factory=list)
    edges: list[EdgeMark] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)  # definitions that changed, folded
    rules: set[str] = field(default_factory=set)  # rules of attributes that changed, folded
    deletion: bool = False  # the setting `on_delete` changed

    @property
    def any(self) -> bool:
        return bool(self.assets or self.edges or self.tags or self.rules or self.deletion)
