"""Converts a decoded OpenLineage event to Lily's events."""

from datetime import timedelta
from typing import Any, NamedTuple

from lily.incidents import IncidentEvent
from lily.intake.openlineage.assertions import Check, Checks
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.asset_events import asset_events, numbered_id
from lily.intake.openlineage.datasets import state_dataset, state_job
from lily.intake.openlineage.event_shape import event_shape
from lily.intake.openlineage.event_time import rfc3339
from lily.intake.openlineage.facets import Json
from lily.intake.openlineage.lineage import Lineage, dataset_lineage, run_lineage
from lily.intake.openlineage.naming import Naming
from lily.intake.openlineage.run_query import unexpanded
from lily.intake.openlineage.schemas import of_sender, scope_of_sender
from lily.intake.openlineage.symlinks import resolve_symlinks
from lily.lineage.claims import DESIGN, DESIGN_OF_DATASET
from lily.model import ids
from lily.model.columns import AssetRecord, events_of
from lily.model.edges import MAX_RUN, RUN_STATES, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.envelopes import FUTURE_SKEW, read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.table_changes import SenderLimits
from lily.plugins import Sender

MAX_ASSETS = 10_000  # per event: each becomes one record in the log


class Conversion(NamedTuple):
    stated: list[AssetRecord]
    claims: ClaimsEvent | None
    incidents: list[IncidentEvent]
    warnings: list[Problem]  # what is wrong with facets that were ignored
    renamed: list[EdgeEvent]

    @property
    def assets(self) -> list[AssetEvent]:
        """What is stated about each asset."""
        return [event for stated in self.stated for event in events_of(stated)]


def convert(event: Any, sender: Sender, naming: Naming, *, received: str, skew: timedelta = FUTURE_SKEW) -> Conversion:
    """Raises Refused with every problem found outside of facets; then no part of the event is used."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_TYPE", "an OpenLineage event must be a JSON object", "body"))
    time = read_time(rfc3339(event.get("eventTime")), received=received, skew=skew, entity="eventTime")
    collector = AssetCollector(naming, sender.tenant, describes=sender.describes)
    checks = Checks(collector)
    shape = event_shape(event)
    if shape == "run":
        claimed = _of_run(collector, event, checks)
    else:
        claimed = _of_job(collector, event) if shape == "job" else _of_dataset(collector, event)
    if len(collector.stated) > MAX_ASSETS:
        collector.checker.refuse("TOO_LONG", f"one event may describe at most {MAX_ASSETS} assets; split it", "body")
    if collector.checker.problems:
        raise Refused(*collector.checker.problems)
    first = ids.event_id()
    stated = asset_events(collector, sender, time, first)
    incidents = [_incident(check, sender, time) for check in checks.stated()]
    claims = None
    if claimed is not None and (claimed.state or claimed.lineage.states_any):
        claims = _claims_event(claimed, collector.id(claimed.claimant), sender, (first, time))
    if claims is not None and claims.query is not None:
        collector.warnings += unexpanded(claims.query)
    keys = claimed.lineage.renamed if claimed is not None else ()
    renamed = [_edge_event(key, sender, (numbered_id(first, -number), time)) for number, key in enumerate(keys, 1)]
    return Conversion(stated, claims, incidents, list(dict.fromkeys(collector.warnings)), renamed)


class _Claimed(NamedTuple):
    """The claims of an event, by their claimant: a job, or the dataset that the event is about."""

    claimant: str
    run: str
    complete: bool
    lineage: Lineage
    state: str = ""


def _of_dataset(collector: AssetCollector, event: Json) -> _Claimed | None:
    given = _object(collector, event, "dataset")
    symlinks = resolve_symlinks(collector, event)
    dataset = state_dataset(collector, given, "dataset")
    if dataset is None:
        return None
    lineage = dataset_lineage(collector, event, dataset, symlinks)
    return _Claimed(dataset.named.qualified_name, DESIGN_OF_DATASET, complete=True, lineage=lineage)


def _of_job(collector: AssetCollector, event: Json) -> _Claimed | None:
    job = state_job(collector, _object(collector, event, "job"))
    lineage = run_lineage(collector, {**event, "run": None}, job, happened=True)
    return None if job is None else _Claimed(job.named.qualified_name, DESIGN, True, lineage)


def _of_run(collector: AssetCollector, event: Json, checks: Checks) -> _Claimed | None:
    job = state_job(collector, _object(collector, event, "job"))
    run, state = _run(collector, event), _event_type(collector, event)
    happened = state in {"COMPLETE", "RUNNING", "OTHER"}
    lineage = run_lineage(collector, event, job, happened=happened, starts=state == "START")
    if job is None or run is None:
        return None
    checks.gather(event, job.named.qualified_name, run)
    return _Claimed(job.named.qualified_name, run, state == "COMPLETE", lineage, state)


def _claims_event(claimed: _Claimed, claimant: str, sender: Sender, envelope: tuple[str, str]) -> ClaimsEvent:
    lineage = claimed.lineage if sender.describes else _of_limited(claimed.lineage, sender)
    if lineage.query is not None and not sender.reads:
        lineage = lineage._replace(query=lineage.query._replace(expands=False))
    complete = claimed.complete and lineage.understood  # what was not understood completely adds edges and ends none
    query = lineage.query
    return ClaimsEvent(
        *envelope,
        sender.tenant,
        claimant,
        claimed.run,
        complete and query is None,  # else the run completes when its query has been analyzed
        lineage.claims,
        sender.by,
        sender.authorised,
        lineage.datasets,
        lineage.schemas,
        claimed.state,
        lineage.facets,
        None if query is None else query._replace(complete=complete),
        lineage.names,
        tables=lineage.tables,
        correlation=sender.correlation,
        trace=sender.trace,
    )


def _of_limited(lineage: Lineage, sender: Sender) -> Lineage:
    """A schema deletes columns, so the limits of the sender are needed with it."""
    tables = scope_of_sender(lineage.tables, sender.by)
    if not lineage.schemas:
        return lineage._replace(tables=tables)
    limits = SenderLimits(None, own_only=True)
    return lineage._replace(tables=tables._replace(limits=limits), schemas=of_sender(lineage.schemas, sender.by))


def _edge_event(key: EdgeKey, sender: Sender, envelope: tuple[str, str]) -> EdgeEvent:
    """An edge of the source layer: a later run of the job does not end it."""
    statement = EdgeStatement("source", "upsert", key, {}, by=sender.by, authorised=sender.authorised)
    return EdgeEvent(*envelope, sender.tenant, statement, correlation=sender.correlation, trace=sender.trace)


def _incident(check: Check, sender: Sender, time: str) -> IncidentEvent:
    """Its id follows from the event, so an event that is sent again is the same message."""
    return IncidentEvent(
        check.event_id(sender.tenant, time),
        time,
        sender.tenant,
        check.statement(sender.by),
        correlation=sender.correlation,
        trace=sender.trace,
    )


def _object(collector: AssetCollector, event: Json, name: str) -> Json:
    value = event.get(name)
    if isinstance(value, dict):
        return value
    if value is None:
        raise Refused(*collector.checker.problems, Problem("MISSING_FIELD", f"{name} is required", name))
    raise Refused(*collector.checker.problems, Problem("INVALID_TYPE", f"{name} must be an object", name))


def _run(collector: AssetCollector, event: Json) -> str | None:
    """The specification requires a UUID, but some producers send other text. It only has to be unique."""
    return collector.checker.name(_object(collector, event, "run").get("runId"), "run.runId", MAX_RUN)


def _event_type(collector: AssetCollector, event: Json) -> str:
    given = event.get("eventType")
    if given is None:
        return "OTHER"
    kind = given.upper() if isinstance(given, str) else ""
    if kind not in RUN_STATES:
        described = f"eventType must be one of {', '.join(sorted(RUN_STATES))}"
        collector.checker.refuse("INVALID_VALUE", described, "eventType")
    return kind
