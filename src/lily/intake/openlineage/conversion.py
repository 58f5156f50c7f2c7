"""Converts a decoded OpenLineage event to Lily's events."""

from datetime import timedelta
from typing import Any, NamedTuple

from lily.incidents import IncidentEvent
from lily.intake.openlineage.assertions import Check, Checks
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.column_lineage import ColumnLineage
from lily.intake.openlineage.datasets import Stated, state_dataset, state_job
from lily.intake.openlineage.edge_claims import EdgeClaims
from lily.intake.openlineage.event_shape import Shape, event_shape
from lily.intake.openlineage.event_time import rfc3339
from lily.intake.openlineage.facets import Json, objects
from lily.intake.openlineage.naming import Naming
from lily.model import ids
from lily.model.edges import MAX_RUN, Claim, ClaimsEvent
from lily.model.envelopes import FUTURE_SKEW, read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Statement
from lily.plugins import Sender

MAX_ASSETS = 10_000  # per event: each becomes one record in the log
DESIGN = "job"  # the run id of a JobEvent: design-time lineage, which is always complete

_EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})


class Conversion(NamedTuple):
    assets: list[AssetEvent]
    claims: ClaimsEvent | None
    incidents: list[IncidentEvent]
    warnings: list[Problem]  # what is wrong with facets that were ignored


def convert(event: Any, sender: Sender, naming: Naming, *, received: str, skew: timedelta = FUTURE_SKEW) -> Conversion:
    """Raises Refused with every problem found outside of facets; then no part of the event is used."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_TYPE", "an OpenLineage event must be a JSON object", "body"))
    time = read_time(rfc3339(event.get("eventTime")), received=received, skew=skew)
    collector = AssetCollector(naming, sender.tenant)
    checks, claims = Checks(collector), None
    shape = event_shape(event)
    if shape == "dataset":
        state_dataset(collector, _object(collector, event, "dataset"), "dataset")
    else:
        claims = _claimed(collector, checks, event, shape)
    if len(collector.stated) > MAX_ASSETS:
        collector.checker.refuse("TOO_LONG", f"one event may describe at most {MAX_ASSETS} assets; split it", "body")
    if collector.checker.problems:
        raise Refused(*collector.checker.problems)
    first = ids.event_id()
    assets = _asset_events(collector, sender, time, first)
    incidents = [_incident(check, sender, time) for check in checks.found]
    return Conversion(
        assets,
        claims and _claims_event(claims, sender, first, time),
        incidents,
        list(dict.fromkeys(collector.warnings)),
    )


class _Claimed(NamedTuple):
    job_id: str
    run: str
    complete: bool
    claims: tuple[Claim, ...]


def _claimed(collector: AssetCollector, checks: Checks, event: Json, shape: Shape) -> _Claimed | None:
    """States the job and the datasets of a run or job. Returns the edges that it claims, if there are any."""
    job = state_job(collector, _object(collector, event, "job"))
    run = _run(collector, event) if shape == "run" else DESIGN
    complete = shape == "job" or _event_type(collector, event) == "COMPLETE"
    claims, understood = _lineage(collector, event)
    if job is None or run is None:
        return None
    if shape == "run":
        checks.gather(event, job.named.qualified_name, run)
    if not claims:
        return None
    # A run of which a part was not understood adds edges and ends none.
    return _Claimed(collector.id(job.named.qualified_name), run, complete and understood, claims)


def _lineage(collector: AssetCollector, event: Json) -> tuple[tuple[Claim, ...], bool]:
    """The edges that an event claims, and whether all facets about them could be read."""
    claims = EdgeClaims(collector)
    inputs = objects(collector.checker, event.get("inputs"), "inputs")
    outputs = objects(collector.checker, event.get("outputs"), "outputs")
    read = [state_dataset(collector, dataset, f"inputs[{at}]") for at, dataset in enumerate(inputs)]
    written = [state_dataset(collector, dataset, f"outputs[{at}]") for at, dataset in enumerate(outputs)]
    claims.between(_distinct(read), _distinct(written))
    understood = True
    for output in written:
        if output is not None:
            lineage = ColumnLineage(collector, output.named)
            claims.add(output.facets.read("columnLineage", lineage) or (), lineage.targets)
            understood &= "columnLineage" not in output.facets.spoiled
    return claims.claims(), understood


def _claims_event(claimed: _Claimed, sender: Sender, event_id: str, time: str) -> ClaimsEvent:
    return ClaimsEvent(
        event_id,
        time,
        sender.tenant,
        *claimed,
        sender.by,
        sender.authorised,
        correlation=sender.correlation,
        trace=sender.trace,
    )


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
    if kind not in _EVENT_TYPES:
        collector.checker.refuse(
            "INVALID_VALUE", f"eventType must be one of {', '.join(sorted(_EVENT_TYPES))}", "eventType"
        )
    return kind


def _asset_events(collector: AssetCollector, sender: Sender, time: str, first: str) -> list[AssetEvent]:
    """The parts have been validated one by one, so the statements are not validated again."""
    return [
        AssetEvent(
            _numbered(first, number),
            time,
            sender.tenant,
            Statement("source", "upsert", name, kind, attributes, by=sender.by, authorised=sender.authorised),
            correlation=sender.correlation,
            trace=sender.trace,
        )
        for number, (name, (kind, attributes)) in enumerate(collector.stated.items(), 1)
    ]


def _numbered(event_id: str, number: int) -> str:
    """The ids of events that arrived together count up from the first one's. Drawing a random id for each would cost
    more than the rest of the event."""
    return f"{event_id[:-5]}{(int(event_id[-5:], 16) + number) & 0xFFFFF:05x}"


def _distinct(stated: list[Stated | None]) -> list[str]:
    return list(dict.fromkeys(found.named.qualified_name for found in stated if found is not None))
