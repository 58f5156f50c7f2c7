"""A tenant's tag rules: the definitions of its tags, and what the deletion of an asset means for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lily.lineage.definitions import LEGAL_TAGS, OnDelete, TagDefinition


@dataclass(frozen=True)
class TagRules:
    """The two legal tags are protective even if the tenant defines them differently or not at all."""

    definitions: Mapping[str, TagDefinition] = field(default_factory=lambda: {tag.key: tag for tag in LEGAL_TAGS})
    on_delete: OnDelete = "keep"

    @cached_property
    def protective(self) -> frozenset[str]:
        """The keys of the tags that only callers with `policy:write` may remove: those that propagate."""
        legal = {tag.key for tag in LEGAL_TAGS}
        return frozenset(legal | {key for key, tag in self.definitions.items() if tag.propagates})

    @cached_property
    def protective_array(self) -> str:
        """The protective tags as a PostgreSQL array literal, which is cheaper to pass than a list."""
        quoted = (tag.replace("\\", "\\\\").replace('"', '\\"') for tag in sorted(self.protective))
        return "{" + ",".join(f'"{tag}"' for tag in quoted) + "}"

    @property
    def cut_deleted(self) -> bool:
        """Whether a deleted asset passes no tags on."""
        return self.on_delete == "cut"

    def named(self, tags: Iterable[str]) -> dict[str, str]:
        """Name by key, as defined."""
        return {tag: self.name(tag, tag) for tag in tags}

    def name(self, tag: str, stated: str) -> str:
        """The name as defined, else as stated."""
        definition = self.definitions.get(tag)
        return stated if definition is None else definition.name


DEFAULT_TAG_RULES = TagRules()
