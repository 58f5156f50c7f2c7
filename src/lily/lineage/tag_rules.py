"""A tenant's tag rules: the definitions of its tags, which tags are protective, and what deleting an asset means."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lily.lineage.definitions import LEGAL_TAGS, OnDelete, TagDefinition


@dataclass(frozen=True)
class TagRules:
    """The two legal tags are protective even if the tenant defines them differently or not at all."""

    definitions: Mapping[str, TagDefinition] = field(default_factory=lambda: {tag.key: tag for tag in LEGAL_TAGS})
    on_delete: OnDelete = "keep"
    named_by_policies: frozenset[str] = frozenset()  # keys; such a tag need not be defined

    @cached_property
    def protective(self) -> frozenset[str]:
        """The keys of the tags that only callers with `policy:write` may remove: those that propagate, and those that
        policies name, because without such a tag a policy would no longer apply."""
        return self.propagating | self.named_by_policies

    @cached_property
    def propagating(self) -> frozenset[str]:
        legal = {tag.key for tag in LEGAL_TAGS}
        return frozenset(legal | {key for key, tag in self.definitions.items() if tag.propagates})

    @cached_property
    def protective_array(self) -> str:
        """As a PostgreSQL array literal, which is cheaper to pass than a list."""
        return _array(self.protective)

    @cached_property
    def propagating_array(self) -> str:
        return _array(self.propagating)

    @property
    def cut_deleted(self) -> bool:
        """Whether a deleted asset passes no tags on."""
        return self.on_delete == "cut"

    @cached_property
    def names(self) -> dict[str, str]:
        """The defined names, by key."""
        return {key: tag.name for key, tag in self.definitions.items()}

    def named(self, tags: Iterable[str]) -> dict[str, str]:
        """Name by key, as defined."""
        return {tag: self.name(tag, tag) for tag in tags}

    def name(self, tag: str, stated: str) -> str:
        """The name as defined, else as stated."""
        return self.names.get(tag, stated)


def _array(tags: Iterable[str]) -> str:
    quoted = (tag.replace("\\", "\\\\").replace('"', '\\"') for tag in sorted(tags))
    return "{" + ",".join(f'"{tag}"' for tag in quoted) + "}"


DEFAULT_TAG_RULES = TagRules()
