"""Edges of the lineage graph: statements about single edges, and the claims of a job's run about many.

An edge points in the direction of the data flow and is identified by its two assets and its type. It has two layers
that merge like an asset's (newest wins, field by field): *source* for what was ingested and *user* for what a person
set. Jobs claim edges as well: a job's newest complete run replaces the claims of its earlier runs. What layers
conduct is in `edge_layers`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, NamedTuple, get_args

from lily.model import ids
from lily.model.edge_layers import stated_layer
from lily.model.envelopes import FUTURE_SKEW, read_envelope
from lily.model.errors import Problem, Refused
from lily.model.events import LogEvent
from lily.model.layers import Layer
from lily.model.run_queries import RunQuery, read_run_query
from lily.model.table_changes import MAX_SCOPE, NO_CHANGES, TableChanges, read_table_changes
from lily.model.values import MAX_QUALIFIED_NAME, Checker

EDGE_STATED = "lily.edge.stated"
EDGES_CLAIMED = "lily.edges.claimed"
EDGE_CHANGED = "lily.edge.changed"

DERIVED_FROM = "derived-from"
USED_IN = "used-in"
SAME_AS = "same-as"  # between two names of one dataset, in both directions
INFLUENCES = "influences"  # from a column that decides which rows or values there are, without being one of them

NOT_CONTENT = frozenset({SAME_AS, INFLUENCES})  # types of edges that do not explain where content comes from

EdgeLayer = Literal["source", "user"]
EdgeOperation = Literal["upsert", "delete"]
EDGE_LAYERS: tuple[EdgeLayer, ...] = get_args(EdgeLayer)
EDGE_OPERATIONS: tuple[EdgeOperation, ...] = get_args(EdgeOperation)
MAX_TYPE = 64
RUN_STATES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER")
MAX_RUN = 128
MAX_CLAIMS = 20_000  # per event: more would not fit into one Kafka record
_CLAIM = (str, str, str, bool)  # from id, to id, type, masking


class EdgeKey(NamedTuple):
    from_id: str
    to_id: str
    type: str


@dataclass(frozen=True, slots=True)
class EdgeStatement:
    """`settings` holds `propagates` and `masking`: None clears one, an absent one is not stated. `names` are the
    qualified names of the ends, as far as the caller named them so."""

    layer: EdgeLayer
    operation: EdgeOperation
    key: EdgeKey
    settings: dict[str, bool | None]
    by: str = ""
    authorised: bool = False  # the caller had `policy:write`, so what the statement closes no longer conducts
    names: tuple[str, ...] = field(default=(), compare=False)  # an edge by id and one by name may be the same

    def as_data(self) -> dict[str, Any]:
        data = {
            "layer": self.layer,
            "operation": self.operation,
            "from": self.key.from_id,
            "to": self.key.to_id,
            "relationship_type": self.key.type,
            **self.settings,
            **({"names": list(self.names)} if self.names else {}),
        }
        return data | _caller(self.by, authorised=self.authorised)

    def as_layer(self, at: str) -> Layer:
        return stated_layer(at, self.settings, deleted=self.operation == "delete", authorised=self.authorised)


@dataclass(frozen=True, slots=True)
class EdgeEvent(LogEvent):
    """One statement about one edge."""

    statement: EdgeStatement

    @property
    def key(self) -> bytes:
        """The record's key, which keeps all events of an edge in one partition. It is the target's id because hubs
        have more targets than sources."""
        return f"{self.tenant}/{self.statement.key.to_id}".encode()

    @property
    def has_authority(self) -> bool:
        return self.statement.authorised

    def without_authority(self) -> "EdgeEvent":
        return replace(self, statement=replace(self.statement, authorised=False))

    def layer(self) -> Layer:
        return self.statement.as_layer(self.clock)

    def as_cloudevent(self) -> dict[str, Any]:
        return self.enclose(EDGE_STATED, self.statement.key.to_id, self.statement.as_data())


class Claim(NamedTuple):
    key: EdgeKey
    masking: bool = False
    assumed: bool = False  # nothing but the inputs and outputs of the run suggests it


class RunDatasets(NamedTuple):
    """Ids of the datasets of a run. What `explained` outputs and jobs are derived from is stated in full, even if
    that is nothing."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()


NO_DATASETS = RunDatasets()


class DatasetSchema(NamedTuple):
    """The names of all columns of a dataset, by qualified name. A newer schema of the same scope replaces it."""

    dataset_id: str
    scope: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ClaimsEvent(LogEvent):
    """The edges that one event of a job's run claims. When a run completes, its claims replace the job's earlier
    ones. `datasets` are those that it read and wrote: where nothing states what an output is derived from, it is
    assumed to be derived from every input."""

    job_id: str
    run: str
    complete: bool
    claims: tuple[Claim, ...]
    by: str = ""
    authorised: bool = False
    datasets: RunDatasets = NO_DATASETS
    schemas: tuple[DatasetSchema, ...] = ()
    state: str = ""  # of the run; empty for events that are not of a run
    facets: Mapping[str, Any] = field(default_factory=dict)  # of the run, kept as they came, by place
    query: RunQuery | None = None
    names: tuple[str, ...] = ()  # qualified names of ends that nothing else may have stated
    tables: TableChanges = NO_CHANGES
    # Edges that the job no longer claims, as a person with authority confirms. Such an event has nothing else.
    released: tuple[EdgeKey, ...] = ()

    @property
    def has_authority(self) -> bool:
        return self.authorised

    def without_authority(self) -> "ClaimsEvent":
        return replace(self, authorised=False)

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/{self.job_id}".encode()

    def as_cloudevent(self) -> dict[str, Any]:
        data = {
            "job": self.job_id,
            "run": self.run,
            "complete": self.complete,
            "edges": [[*claim.key, claim.masking] for claim in self.claims],
            **{role: list(named) for role, named in self.datasets._asdict().items() if named},
            **({"state": self.state} if self.state else {}),
            **({"facets": self.facets} if self.facets else {}),
            **({"schemas": [list(schema) for schema in self.schemas]} if self.schemas else {}),
            **({"query": self.query.as_data()} if self.query else {}),
            **({"names": list(self.names)} if self.names else {}),
            **({"tables": self.tables.as_data()} if self.tables is not NO_CHANGES else {}),
            **({"released": [list(key) for key in self.released]} if self.released else {}),
        }
        return self.enclose(EDGES_CLAIMED, self.job_id, data | _caller(self.by, authorised=self.authorised))


def read_edge_statement(data: Mapping[str, Any], *, tenant: str) -> EdgeStatement:
    """Validates a statement about an edge, whose assets are named by id or qualified name. Raises Refused with every
    problem found."""
    checker = Checker()
    layer: Any = data.get("layer", "source")
    operation: Any = data.get("operation") or "upsert"
    if layer not in EDGE_LAYERS:
        checker.refuse("INVALID_VALUE", f"layer must be one of {', '.join(EDGE_LAYERS)}", "layer")
    if operation not in EDGE_OPERATIONS:
        checker.refuse("INVALID_VALUE", f"operation must be one of {', '.join(EDGE_OPERATIONS)}", "operation")
    key, named = _key(checker, data, tenant)
    if "names" in data:  # from the log, where the ends are ids
        named = _names(checker, data["names"])
    settings = {name: _flag(checker, data[name], name) for name in ("propagates", "masking") if name in data}
    by = checker.name(data["by"], "by") if data.get("by") else ""
    if checker.problems:
        raise Refused(*checker.problems)
    names = named if operation == "upsert" else ()
    return EdgeStatement(layer, operation, key, settings, by or "", data.get("authorised") is True, names)


def read_edge_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> EdgeEvent:
    envelope, data = read_envelope(event, EDGE_STATED, received=received, skew=skew)
    statement = read_edge_statement(data, tenant=envelope.tenant)
    return EdgeEvent(*envelope[:3], statement, correlation=envelope.correlation, trace=envelope.trace)


def read_claims_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> ClaimsEvent:
    envelope, data = read_envelope(event, EDGES_CLAIMED, received=received, skew=skew)
    job, run, edges = data.get("job"), data.get("run"), data.get("edges")
    if not isinstance(job, str) or not ids.looks_like_uuid(job):
        raise Refused(Problem("INVALID_VALUE", "job must be the id of an asset", "job"))
    if not isinstance(run, str) or not 0 < len(run) <= MAX_RUN:
        raise Refused(Problem("INVALID_VALUE", f"run must be 1 to {MAX_RUN} characters", "run"))
    if not isinstance(edges, list) or len(edges) > MAX_CLAIMS:
        raise Refused(Problem("INVALID_VALUE", f"edges must be a list of at most {MAX_CLAIMS} entries", "edges"))
    claims = tuple(dict.fromkeys(_claim(edge) for edge in edges))
    return ClaimsEvent(
        *envelope[:3],
        job.lower(),
        run,
        data.get("complete") is True,
        claims,
        str(data.get("by") or ""),
        data.get("authorised") is True,
        RunDatasets(*(_datasets(data, name) for name in RunDatasets._fields)),
        tuple(_schema(given) for given in _list(data, "schemas")),
        _state(data),
        _facets(data),
        read_run_query(data.get("query")),
        _claimed_names(data),
        read_table_changes(data.get("tables")),
        _released(data),
        correlation=envelope.correlation,
        trace=envelope.trace,
    )


def _released(data: Mapping[str, Any]) -> tuple[EdgeKey, ...]:
    given = _list(data, "released")
    if given and data.get("authorised") is not True:
        raise Refused(Problem("PROTECTED", "a release needs authority: the scope policy:write", "released"))
    if given and (data["edges"] or data.get("complete")):
        raise Refused(Problem("CONTRADICTION", "an event that releases claims states nothing else", "released"))
    return tuple(_claim([*edge, False] if isinstance(edge, list) else edge).key for edge in given)


def _claimed_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    checker = Checker()
    names = _names(checker, data.get("names", []))
    if checker.problems:
        raise Refused(*checker.problems)
    return names


def _names(checker: Checker, given: Any) -> tuple[str, ...]:
    """Those of the references that are qualified names."""
    if not isinstance(given, list) or len(given) > 2 * MAX_CLAIMS:
        checker.refuse("INVALID_VALUE", f"names must be a list of at most {2 * MAX_CLAIMS} qualified names", "names")
        return ()
    names = [name for one in given if (name := checker.name(one, "names", MAX_QUALIFIED_NAME)) is not None]
    return tuple(dict.fromkeys(name for name in names if not ids.looks_like_uuid(name)))


def _datasets(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = _list(data, name)
    if not all(map(_is_id, given)):
        raise Refused(Problem("INVALID_VALUE", f"{name} must be a list of ids of assets", name))
    return tuple(dict.fromkeys(entry.lower() for entry in given))


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    given = data.get(name, [])
    if not isinstance(given, list) or len(given) > MAX_CLAIMS:
        raise Refused(Problem("INVALID_VALUE", f"{name} must be a list of at most {MAX_CLAIMS} entries", name))
    return given


def _state(data: Mapping[str, Any]) -> str:
    given: Any = data.get("state", "")
    if given != "" and given not in RUN_STATES:
        raise Refused(Problem("INVALID_VALUE", f"state must be one of {', '.join(RUN_STATES)}", "state"))
    return str(given)


def _facets(data: Mapping[str, Any]) -> Mapping[str, Any]:
    given = data.get("facets", {})
    checker = Checker()
    checker.free(given, "facets", -2)  # each facet by itself may be as deep as any value
    if not isinstance(given, dict) or checker.problems:
        raise Refused(Problem("INVALID_VALUE", "facets must be an object that PostgreSQL can store", "facets"))
    return given


def _schema(given: Any) -> DatasetSchema:
    match given:
        case [str(dataset), str(scope), dict(columns)] if (
            ids.looks_like_uuid(dataset)
            and 0 < len(scope) <= MAX_SCOPE
            and all(isinstance(name, str) for name in columns.values())
        ):
            return DatasetSchema(dataset.lower(), scope, columns)
    raise Refused(
        Problem(
            "INVALID_VALUE", "each schema must be [dataset id, scope, names of columns by qualified name]", "schemas"
        )
    )


def _is_id(given: Any) -> bool:
    return isinstance(given, str) and ids.looks_like_uuid(given)


def _claim(edge: Any) -> Claim:
    """A run claims hundreds of edges, so this is the fastest way to check one."""
    if type(edge) is list and len(edge) == len(_CLAIM) and tuple(map(type, edge)) == _CLAIM:
        start, end, kind, masking = edge
        if ids.looks_like_uuid(start) and ids.looks_like_uuid(end) and 0 < len(kind) <= MAX_TYPE and start != end:
            return Claim(EdgeKey(start.lower(), end.lower(), kind), masking)
    raise Refused(Problem("INVALID_VALUE", "each edge must be [from id, to id, type, masking]", "edges"))


def _key(checker: Checker, data: Mapping[str, Any], tenant: str) -> tuple[EdgeKey, tuple[str, ...]]:
    """The key, and the names of those ends that are named by qualified name."""
    given = [checker.name(data.get(name), name, MAX_QUALIFIED_NAME) for name in ("from", "to")]
    ends = [ids.resolve(tenant, reference) if reference else "" for reference in given]
    kind = checker.name(data.get("relationship_type"), "relationship_type", MAX_TYPE) or ""
    if ends[0] and ends[0] == ends[1]:
        checker.refuse("SELF_LOOP", "an edge must lead from one asset to another; from and to are the same", "to")
    # The id of a qualified name never equals it.
    names = tuple(name for name, end in zip(given, ends, strict=True) if name and name.lower() != end)
    return EdgeKey(ends[0], ends[1], kind.lower()), names


def _flag(checker: Checker, given: Any, entity: str) -> bool | None:
    if given is None or isinstance(given, bool):
        return given
    checker.refuse("INVALID_TYPE", f"{entity} must be true, false or null", entity)
    return None


def _caller(by: str, *, authorised: bool) -> dict[str, Any]:
    return ({"by": by} if by else {}) | ({"authorised": True} if authorised else {})
