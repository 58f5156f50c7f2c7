"""Answers as typed values. What a newer server adds is ignored; what is missing is an unexpected answer."""

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a write. `receipt` names it for later; `superseded` is None while it is not yet readable."""

    metadata_id: str
    status: str
    superseded: bool | None
    receipt: str

    @property
    def readable(self) -> bool:
        return self.superseded is not None


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags by layer, and those that decisions use."""

    source: list[str]
    enriched: list[str]
    user: list[str]
    propagated: list[str]
    inherited: list[str]
    effective: list[str]


@dataclass(frozen=True, slots=True)
class Asset:
    metadata_id: str
    entity_type: str
    attributes: dict[str, Any]
    tags: Tags
    at_risk: list[str]
    tenant_id: str
    version: int
    is_deleted: bool
    created_at: str
    updated_at: str
    fresh_as_of: str

    @property
    def name(self) -> str:
        return self.attributes.get("name") or ""

    @property
    def qualified_name(self) -> str:
        return str(self.attributes["qualified_name"])


@dataclass(frozen=True, slots=True)
class Batch:
    items: list[Asset]
    missing: list[str]


@dataclass(frozen=True, slots=True)
class Tag:
    tag: str
    layer: Literal["source", "enriched", "user", "propagated", "inherited"]
    origin: str
    path: list[str]
    suppressed: bool
    depth: int = 0  # the edges between a derived tag and its origin
    suppression: dict[str, Any] | None = None  # by, reason, at, new_origins
    origins: list[str] | None = None  # all of them, where they were asked for
    more: bool | None = None


@dataclass(frozen=True, slots=True)
class TagDefinition:
    """How a tag travels; None for `max_depth` and `edge_types` means no limit."""

    name: str
    propagates: bool
    direction: Literal["downstream", "upstream", "both"]
    max_depth: int | None
    edge_types: list[str] | None
    stopped_by_masking: bool


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """How an attribute travels; None for `max_depth` and `edge_types` means no limit."""

    name: str
    attribute: str
    mode: Literal["set-if-empty", "add", "override"]
    direction: Literal["downstream", "upstream", "both"]
    max_depth: int | None
    edge_types: list[str] | None


@dataclass(frozen=True, slots=True)
class DerivedAttribute:
    """A value that a rule set on an asset; `path` leads there, the origin first."""

    attribute: str
    value: Any
    rule: str
    mode: Literal["set-if-empty", "add", "override"]
    origin: str
    path: list[str]
    depth: int


@dataclass(frozen=True, slots=True)
class WouldReach:
    """One asset that a tag would reach, `depth` edges away; `already` where it has the tag now."""

    metadata_id: str
    qualified_name: str | None
    depth: int
    via: str
    already: bool
    suppressed: bool


@dataclass(frozen=True, slots=True)
class Related:
    """What became of statements about edges. `superseded` is None while they cannot be read yet."""

    accepted: int
    edges: list[dict[str, str]]  # from and to as ids
    superseded: bool | None
    receipt: str

    @property
    def readable(self) -> bool:
        return self.superseded is not None


@dataclass(frozen=True, slots=True)
class SqlLineage:
    """The edges that a script states, by name and by id, and what in it could not be followed."""

    edges: list[dict[str, str]]
    statements: int
    stored: bool
    warnings: list[str]
    readable: bool = False


@dataclass(frozen=True, slots=True)
class LineageTaken:
    """How many assets an event of OpenLineage told of, and how many edges its run claims."""

    assets: int
    edges: int
    readable: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Assets with their depth, below zero upstream, and the edges between them; both as the API tells them."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Travel:
    """The receipt of a write: how many assets gained or lost a tag by it, and how far away the farthest is."""

    state: Literal["pending", "applied", "superseded", "refused"]
    reached: int
    depth: int
    started: str | None
    finished: str | None


@dataclass(frozen=True, slots=True)
class Cause:
    """The event behind a change: who stated it, and when."""

    id: str
    time: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change in an asset's history. `what` maps a field to `{"from": …, "to": …}`."""

    position: int
    version: int
    layer: str
    change: str
    what: dict[str, dict[str, Any]]
    causes: list[Cause]
    at: str


@dataclass(frozen=True, slots=True)
class ItemProblem:
    """Why an input was refused; `row` counts from 1 over everything that was sent, and is 0 outside a bulk."""

    code: str
    description: str
    entity: str = ""
    row: int = 0


@dataclass(frozen=True, slots=True)
class DeadLetter:
    id: int
    topic: str
    partition: int
    offset: int
    errors: list[ItemProblem]
    refused_at: str
    replayed_at: str | None
    original: str | None
    encoding: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    replayed: int
    missing: list[int]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether it can serve; if not, why not. `lag` tells by topic how many events cannot be read yet."""

    ready: bool
    problems: list[ItemProblem] = field(default_factory=list)
    lag: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of everything sent so far. `errors` holds the first of the refused rows, `rejected` counts all."""

    accepted: int = 0
    rejected: int = 0
    errors: list[ItemProblem] = field(default_factory=list)
    readable: bool = False  # every accepted row could be read when its batch was answered


@dataclass(frozen=True, slots=True)
class Notification:
    """A change as it happens. `position` is where to resume after it; `fields` is the whole message."""

    type: str
    metadata_id: str
    entity_type: str
    change: str
    timestamp: str
    position: str
    fields: dict[str, Any]

    @property
    def qualified_name(self) -> str:
        return self.fields.get("qualified_name") or ""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: list[T]
    next_cursor: str | None
