"""What a tenant has decided about tags, all of it: the definitions, and what deletion means."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lily.lineage.definitions import LEGAL, OnDelete, TagDefinition


@dataclass(frozen=True)
class Rules:
    """The two legal tags protect also where nobody defines them, or says that they do not propagate."""

    definitions: Mapping[str, TagDefinition] = field(default_factory=lambda: {tag.key: tag for tag in LEGAL})
    on_delete: OnDelete = "keep"

    @cached_property
    def protective(self) -> frozenset[str]:
        """The folded tags whose loss needs a decision: those that propagate."""
        legal = {tag.key for tag in LEGAL}
        return frozenset(legal | {key for key, tag in self.definitions.items() if tag.propagates})

    @cached_property
    def as_array(self) -> str:
        """The protective tags as an array literal of PostgreSQL: one value to quote."""
        quoted = (tag.replace("\\", "\\\\").replace('"', '\\"') for tag in sorted(self.protective))
        return "{" + ",".join(f'"{tag}"' for tag in quoted) + "}"

    @property
    def cuts(self) -> bool:
        """Whether a deleted asset lets no tag pass any more."""
        return self.on_delete == "cut"

    def named(self, tags: Iterable[str]) -> dict[str, str]:
        """Each with its name as defined."""
        return {tag: self.name(tag, tag) for tag in tags}

    def name(self, tag: str, stated: str) -> str:
        """The name as defined, else as it is stated somewhere."""
        definition = self.definitions.get(tag)
        return stated if definition is None else definition.name


LEGAL_RULES = Rules()
