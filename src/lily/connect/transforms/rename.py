"""`rename`: changes the beginning of qualified names, of assets, of their parents and of the ends of edges."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from lily.model import ids
from lily.model.errors import Problem, Refused
from lily.plugins import SourceAsset, SourceEdge


class RenameConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    remove_prefix: str = Field("", description="removed from names that begin with it")
    add_prefix: str = Field("", description="added before every name")


class Rename:
    Config = RenameConfig

    def __init__(self, config: RenameConfig) -> None:
        self._config = config

    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        attributes: dict[str, Any] = dict(stated.attributes)
        if not isinstance(attributes.get("qualified_name"), str):
            problem = Problem("MISSING_FIELD", "rename needs a qualified_name", "attributes.qualified_name")
            raise Refused(problem)
        for name in ("qualified_name", "parent"):
            if isinstance(attributes.get(name), str):
                attributes[name] = self._renamed(attributes[name])
        yield replace(stated, attributes=attributes)

    def edge(self, stated: SourceEdge) -> Iterator[SourceEdge]:
        yield replace(stated, origin=self._renamed(stated.origin), target=self._renamed(stated.target))

    def _renamed(self, name: str) -> str:
        """An id may be used instead of a name, and stays as it is."""
        if ids.looks_like_uuid(name):
            return name
        return self._config.add_prefix + name.removeprefix(self._config.remove_prefix)
