"""`add-tags`: gives tags to the assets whose qualified name matches a pattern."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field

from lily.model.assets import tag_key
from lily.plugins import SourceAsset, SourceEdge


class AddTagsConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    match: str = Field(description="a glob that is compared with the qualified name, without case: `*.email`")
    tags: list[str] = Field(min_length=1)
    entity_types: list[str] = Field([], description="only assets of these types; empty for all")


class AddTags:
    """The tags that the source states are kept; a tag that is there already is not added in another spelling."""

    Config = AddTagsConfig

    def __init__(self, config: AddTagsConfig) -> None:
        self._pattern = config.match.lower()
        self._tags = config.tags
        self._types = frozenset(kind.lower() for kind in config.entity_types)

    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        yield self._tagged(stated) if self._concerns(stated) else stated

    def edge(self, stated: SourceEdge) -> Iterator[SourceEdge]:
        yield stated

    def _concerns(self, stated: SourceAsset) -> bool:
        return (
            stated.operation == "upsert"
            and (not self._types or stated.entity_type.lower() in self._types)
            and fnmatchcase(stated.name.lower(), self._pattern)
        )

    def _tagged(self, stated: SourceAsset) -> SourceAsset:
        tags = [*(stated.attributes.get("tags") or ()), *self._tags]
        distinct = list({tag_key(tag): tag for tag in reversed(tags)}.values())[::-1]
        return SourceAsset(stated.entity_type, {**stated.attributes, "tags": distinct}, time=stated.time)
