"""The port `lily.connectors`: what a source knows about its assets and their lineage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from lily.model.errors import Problem


@dataclass(frozen=True, slots=True)
class SourceAsset:
    """What a source states about one asset: a row of `POST /ingest-metadata/bulk`.

    An attribute that is absent is not stated, one that is None is cleared. Lily validates it when it arrives.
    """

    entity_type: str
    attributes: Mapping[str, Any]
    operation: Literal["upsert", "delete"] = "upsert"
    time: str | None = None

    @property
    def name(self) -> str:
        """The qualified name, or the name where the source leaves it to Lily to compose one."""
        return str(self.attributes.get("qualified_name") or self.attributes.get("name") or "")

    def as_body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"entity_type": self.entity_type, "attributes": dict(self.attributes)}
        if self.operation != "upsert":
            body["operation"] = self.operation
        return body if self.time is None else body | {"time": self.time}


@dataclass(frozen=True, slots=True)
class SourceEdge:
    """An edge between two assets, named by qualified name, in the direction in which data flows."""

    origin: str
    target: str
    relationship_type: str = "derived-from"
    masking: bool | None = None

    def as_body(self) -> dict[str, Any]:
        body = {"from": self.origin, "to": self.target, "relationship_type": self.relationship_type}
        return body if self.masking is None else body | {"masking": self.masking}


# What a connector yields. A Problem is a part of the source that could not be read, named by its `entity`; the run
# continues.
SourceItem = SourceAsset | SourceEdge | Problem


class Connector(Protocol):
    """Reads one source. Constructed with its validated configuration; the constructor connects to nothing.

    `check` and `read` raise Transient if the same run may succeed later (the source does not respond) and Terminal
    if something has to change first (wrong password, unknown database). Either ends the run with that message.
    What was sent before stays, and running the recipe again is harmless: the same statement gives the same asset.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    def check(self) -> None:
        """Raises unless the source can be reached and read with this configuration. Cheap; changes nothing."""
        ...

    def read(self) -> Iterator[SourceItem]:
        """Yields the items of the source one by one, never holding all in memory. The order does not matter."""
        ...

    def close(self) -> None:
        """Closes connections. Always called, also after a failure; idempotent."""
        ...
