"""Edges of the lineage graph: what an event says about one, and what a job's run says about many.

An edge points the way data flows and is identified by its two assets and its type. It has two layers with the rules of
an asset's (newest wins, field by field): *source* for what was ingested and *user* for what a person set. Besides, jobs
claim edges: an edge that a job's newest complete run no longer claims is no longer that job's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple, get_args

from lily.model import clock, ids
from lily.model.assets import DELETED
from lily.model.envelopes import FUTURE_SKEW, Envelope, envelope, read_envelope
from lily.model.errors import Problem, Refused
from lily.model.layers import Layer
from lily.model.values import Checker

EDGE_STATED = "lily.edge.stated"
EDGES_CLAIMED = "lily.edges.claimed"
EDGE_CHANGED = "lily.edge.changed"

EdgeLayer = Literal["source", "user"]
EdgeOperation = Literal["upsert", "delete"]
EDGE_LAYERS: tuple[EdgeLayer, ...] = get_args(EdgeLayer)
EDGE_OPERATIONS: tuple[EdgeOperation, ...] = get_args(EdgeOperation)
MAX_TYPE = 64
MAX_RUN = 128
MOST_CLAIMS = 20_000  # what one event may claim: more would not fit into a record of the log


class EdgeKey(NamedTuple):
    from_id: str
    to_id: str
    type: str


@dataclass(frozen=True, slots=True)
class EdgeStatement:
    """`settings` holds `propagates` and `masking` as stated, None where one was cleared; absent is not stated."""

    layer: EdgeLayer
    operation: EdgeOperation
    key: EdgeKey
    settings: dict[str, bool | None]
    by: str = ""
    authorised: bool = False  # whoever said it may take protective tags away

    def as_data(self) -> dict[str, Any]:
        data = {
            "layer": self.layer,
            "operation": self.operation,
            "from": self.key.from_id,
            "to": self.key.to_id,
            "relationship_type": self.key.type,
            **self.settings,
        }
        return data | _told(self.by, authorised=self.authorised)

    def as_layer(self, at: str) -> Layer:
        fields: dict[str, Any] = {key: value for key, value in self.settings.items() if value is not None}
        cleared: dict[str, Any] = {key: at for key, value in self.settings.items() if value is None}
        fields[DELETED] = self.operation == "delete"
        return Layer(fields, at, cleared or None)


@dataclass(frozen=True, slots=True)
class EdgeEvent:
    """One statement about one edge, at one time."""

    id: str
    time: str
    tenant: str
    statement: EdgeStatement
    correlation: str = ""
    trace: str = ""

    @property
    def key(self) -> bytes:
        """Events of one edge stay in one partition. By the target: hubs have more targets than sources."""
        return f"{self.tenant}/{self.statement.key.to_id}".encode()

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.id)

    def layer(self) -> Layer:
        return self.statement.as_layer(self.clock)

    def as_cloudevent(self) -> dict[str, Any]:
        return envelope(
            EDGE_STATED,
            Envelope(self.id, self.time, self.tenant, self.correlation, self.trace),
            self.statement.key.to_id,
            self.statement.as_data(),
        )


class Claim(NamedTuple):
    key: EdgeKey
    masking: bool = False


@dataclass(frozen=True, slots=True)
class ClaimsEvent:
    """The edges that one event of a job's run names. Once a run completes, its edges are the job's."""

    id: str
    time: str
    tenant: str
    job_id: str
    run: str
    complete: bool
    claims: tuple[Claim, ...]
    by: str = ""
    authorised: bool = False
    correlation: str = ""
    trace: str = ""

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/{self.job_id}".encode()

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.id)

    def as_cloudevent(self) -> dict[str, Any]:
        data = {
            "job": self.job_id,
            "run": self.run,
            "complete": self.complete,
            "edges": [[*claim.key, claim.masking] for claim in self.claims],
        }
        return envelope(
            EDGES_CLAIMED,
            Envelope(self.id, self.time, self.tenant, self.correlation, self.trace),
            self.job_id,
            data | _told(self.by, authorised=self.authorised),
        )


def read_edge_statement(data: Mapping[str, Any], *, tenant: str) -> EdgeStatement:
    """Checks what is said about an edge; assets are named by id or qualified name. Raises Refused with all of it."""
    checker = Checker()
    layer: Any = data.get("layer", "source")
    operation: Any = data.get("operation") or "upsert"
    if layer not in EDGE_LAYERS:
        checker.refuse("INVALID_VALUE", f"layer must be one of {', '.join(EDGE_LAYERS)}", "layer")
    if operation not in EDGE_OPERATIONS:
        checker.refuse("INVALID_VALUE", f"operation must be one of {', '.join(EDGE_OPERATIONS)}", "operation")
    key = _key(checker, data, tenant)
    settings = {name: _flag(checker, data[name], name) for name in ("propagates", "masking") if name in data}
    by = checker.name(data["by"], "by") if data.get("by") else ""
    if checker.problems:
        raise Refused(*checker.problems)
    return EdgeStatement(layer, operation, key, settings, by or "", data.get("authorised") is True)


def read_edge_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> EdgeEvent:
    head, data = read_envelope(event, EDGE_STATED, received=received, skew=skew)
    statement = read_edge_statement(data, tenant=head.tenant)
    return EdgeEvent(head.id, head.time, head.tenant, statement, head.correlation, head.trace)


def read_claims_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> ClaimsEvent:
    head, data = read_envelope(event, EDGES_CLAIMED, received=received, skew=skew)
    job, run, edges = data.get("job"), data.get("run"), data.get("edges")
    if not isinstance(job, str) or not ids.looks_like_uuid(job):
        raise Refused(Problem("INVALID_VALUE", "job must be the id of an asset", "job"))
    if not isinstance(run, str) or not 0 < len(run) <= MAX_RUN:
        raise Refused(Problem("INVALID_VALUE", f"run must be 1 to {MAX_RUN} characters", "run"))
    if not isinstance(edges, list) or len(edges) > MOST_CLAIMS:
        raise Refused(Problem("INVALID_VALUE", f"edges must be a list of at most {MOST_CLAIMS}", "edges"))
    claims = tuple(dict.fromkeys(_claim(edge) for edge in edges))
    return ClaimsEvent(
        head.id,
        head.time,
        head.tenant,
        job.lower(),
        run,
        data.get("complete") is True,
        claims,
        str(data.get("by") or ""),
        data.get("authorised") is True,
        head.correlation,
        head.trace,
    )


def _claim(edge: Any) -> Claim:
    match edge:
        case [str(start), str(end), str(kind), bool(masking)] if (
            ids.looks_like_uuid(start) and ids.looks_like_uuid(end) and 0 < len(kind) <= MAX_TYPE and start != end
        ):
            return Claim(EdgeKey(start.lower(), end.lower(), kind), masking)
    raise Refused(Problem("INVALID_VALUE", "an edge is [from id, to id, type, masking]", "edges"))


def _key(checker: Checker, data: Mapping[str, Any], tenant: str) -> EdgeKey:
    ends = [_end(checker, data.get(name), name, tenant) for name in ("from", "to")]
    kind = checker.name(data.get("relationship_type"), "relationship_type", MAX_TYPE) or ""
    if ends[0] and ends[0] == ends[1]:
        checker.refuse("SELF_LOOP", "an edge must lead from one asset to another", "to")
    return EdgeKey(ends[0], ends[1], kind.lower())


def _end(checker: Checker, given: Any, entity: str, tenant: str) -> str:
    reference = checker.name(given, entity, 1024)
    return ids.resolve(tenant, reference) if reference else ""


def _flag(checker: Checker, given: Any, entity: str) -> bool | None:
    if given is None or isinstance(given, bool):
        return given
    checker.refuse("INVALID_TYPE", f"{entity} must be true, false or null", entity)
    return None


def _told(by: str, *, authorised: bool) -> dict[str, Any]:
    return ({"by": by} if by else {}) | ({"authorised": True} if authorised else {})
