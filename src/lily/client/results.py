"""The results of calls. Fields that a newer server adds are ignored; a missing field raises Unexpected."""

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
Direction = Literal["downstream", "upstream", "both"]
Mode = Literal["set-if-empty", "add", "override"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An accepted write. `superseded` is None while it cannot be read yet, and true if a newer event had won."""

    superseded: bool | None
    receipt: str  # for `travel(receipt)`

    @property
    def readable(self) -> bool:
        return self.superseded is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Written):
    """An accepted write of one asset."""

    metadata_id: str
    status: str


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags by layer, and the effective ones, which decisions use."""

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
    placeholder: bool = False  # only edges have named it, and nothing else is stated about it

    @property
    def name(self) -> str:
        return self.attributes.get("name") or ""

    @property
    def qualified_name(self) -> str:
        return str(self.attributes["qualified_name"])


@dataclass(frozen=True, slots=True)
class Denied:
    """An asset that a policy denies to the caller; `policy_id` is None if no scraper policy covers it."""

    id: str  # as it was given: an id or a qualified name
    policy_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    items: list[Asset]
    missing: list[str]
    denied: list[Denied] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tag:
    tag: str
    layer: Literal["source", "enriched", "user", "propagated", "inherited"]
    origin: str
    path: list[str]
    suppressed: bool
    depth: int = 0  # the number of edges between a derived tag and its origin
    suppression: dict[str, Any] | None = None  # by, reason, at, new_origins
    origins: list[str] | None = None  # with `origins=True`
    more: bool | None = None  # whether there are more origins than listed
    origin_name: str | None = None
    path_names: list[str | None] = field(default_factory=list)
    held: bool = False  # it ended without authority, and counts until somebody with policy:write confirms that
    ended: dict[str, Any] | None = None  # by, at; of a tag of the asset itself that is held


@dataclass(frozen=True, slots=True)
class TagDefinition:
    """How a tag propagates. None for `max_depth` means no limit, for `edge_types` all but `influences`."""

    name: str
    propagates: bool
    direction: Direction
    max_depth: int | None
    edge_types: list[str] | None
    stopped_by_masking: bool


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """How an attribute propagates. None for `max_depth` means no limit, for `edge_types` all but `influences`."""

    name: str
    attribute: str
    mode: Mode
    direction: Direction
    max_depth: int | None
    edge_types: list[str] | None


@dataclass(frozen=True, slots=True)
class DerivedAttribute:
    """A value that a rule set on an asset; `path` starts at the origin."""

    attribute: str
    value: Any
    rule: str
    mode: Mode
    origin: str
    path: list[str]
    depth: int


@dataclass(frozen=True, slots=True)
class WouldReach:
    """An asset that a tag would reach, `depth` edges away; `already` if it has the tag now."""

    metadata_id: str
    qualified_name: str | None
    depth: int
    via: str
    already: bool
    suppressed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Related(Written):
    """An accepted write of edges; `edges` has their ends as ids."""

    accepted: int
    edges: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class SqlLineage:
    """The edges found in a SQL script, by name and by id; `warnings` lists what could not be analysed."""

    edges: list[dict[str, str]]
    statements: int
    stored: bool
    warnings: list[str]
    understood: int = 0
    partial: int = 0
    not_understood: int = 0
    without_edges: list[dict[str, Any]] = field(default_factory=list)
    readable: bool = False


@dataclass(frozen=True, slots=True)
class LineageTaken:
    """The number of assets and edges in an OpenLineage event; `warnings` has what is wrong with ignored facets."""

    assets: int
    edges: int
    readable: bool = False
    warnings: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Graph:
    """Assets with their depth (negative upstream) and the edges between them, both as the API returns them."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Travel:
    """The state of a write: how many assets gained or lost a tag by it, and the depth of the farthest.

    `enforcements` has for each target its `state`, and `confirmed_at`: when everything up to this write was in line."""

    state: Literal["pending", "applied", "superseded", "refused"]
    reached: int
    depth: int
    started: str | None
    finished: str | None
    enforcements: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cause:
    """The event behind a change: when it happened and who caused it."""

    id: str
    time: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change in an asset's history. `what` maps each field to `{"from": …, "to": …}`."""

    position: int
    version: int
    layer: str
    change: str
    what: dict[str, dict[str, Any]]
    causes: list[Cause]
    at: str


@dataclass(frozen=True, slots=True)
class ItemProblem:
    """Why an event was refused. `row` counts from 1 over all events sent in bulk, and is 0 elsewhere."""

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
    """`denied` lists the dead letters about assets that a policy denies to the caller."""

    replayed: int
    missing: list[int]
    denied: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the API is ready, and if not, why. `lag` is the number of events per topic that cannot be read yet."""

    ready: bool
    problems: list[ItemProblem] = field(default_factory=list)
    lag: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The outcome of all events sent so far. `rejected` counts the refused ones, `errors` lists the first 1,000."""

    accepted: int = 0
    rejected: int = 0
    errors: list[ItemProblem] = field(default_factory=list)
    readable: bool = False  # every accepted event could be read when its batch was confirmed


@dataclass(frozen=True, slots=True)
class Notification:
    """One change, or an alert about an incident, which has no `metadata_id` while no asset of it is known. Resume after
    it with `since=position`; `fields` is the whole message."""

    type: str
    metadata_id: str | None
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


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """How many queries used an asset on a UTC day."""

    day: str
    query_count: int
