"""Converts a decoded OpenLineage event to Lily's events."""

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from lily.incidents import IncidentEvent
from lily.intake.openlineage.assertions import Check, Checks
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.datasets import state_dataset, state_job
from lily.intake.openlineage.edge_claims import EdgeClaims
from lily.intake.openlineage.event_time import rfc3339
from lily.intake.openlineage.facets import Json, objects
from lily.intake.openlineage.naming import Naming
from lily.model import ids
from lily.model.edges import MAX_RUN, ClaimsEvent
from lily.model.envelopes import FUTURE_SKEW, read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Statement
from lily.plugins import Sender

MAX_ASSETS = 10_000  # per event: each becomes one record in the log
DESIGN = "job"  # the run id of a JobEvent: design-time lineage, which is always complete

_EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})

Shape = Literal["run", "job", "dataset"]


class Conversion(NamedTuple):
    assets: list[AssetEvent]
    claims: ClaimsEvent | None
    incidents: list[IncidentEvent]


def convert(event: Any, sender: Sender, naming: Naming, *, received: str, skew: timedelta = FUTURE_SKEW) -> Conversion:
    """Raises Refused with every problem found; then no part of the event is used."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_TYPE", "an OpenLineage event must be a JSON object", "body"))
    time = read_time(rfc3339(event.get("eventTime")), received=received, skew=skew)
    collector = AssetCollector(naming, sender.tenant)
    claims = EdgeClaims(collector)
    checks = Checks(collector)
    shape = _shape(event)
    job = run = None
    if shape == "dataset":
        state_dataset(collector, _object(collector, event, "dataset"), "dataset")
    else:
        job = state_job(collector, _object(collector, event, "job"))
        run = DESIGN if shape == "job" else _run(collector, event)
        _gather_lineage(collector, claims, event)
        if shape == "run":
            checks.gather(event, job, run)
    complete = shape == "job" or _event_type(collector, event) == "COMPLETE"
    found = claims.claims()
    if len(collector.stated) > MAX_ASSETS:
        collector.checker.refuse("TOO_LONG", f"one event may describe at most {MAX_ASSETS} assets; split it", "body")
    if collector.checker.problems:
        raise Refused(*collector.checker.problems)
    first = ids.event_id()
    assets = _asset_events(collector, sender, time, first)
    incidents = [_incident(check, sender, time) for check in checks.found]
    if not found or job is None or run is None:
        return Conversion(assets, None, incidents)
    claimed = ClaimsEvent(
        first,
        time,
        sender.tenant,
        collector.id(job),
        run,
        complete,
        found,
        sender.by,
        sender.authorised,
        correlation=sender.correlation,
        trace=sender.trace,
    )
    return Conversion(assets, claimed, incidents)


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


def _gather_lineage(collector: AssetCollector, claims: EdgeClaims, event: Json) -> None:
    inputs = objects(collector.checker, event.get("inputs"), "inputs")
    outputs = objects(collector.checker, event.get("outputs"), "outputs")
    read = [state_dataset(collector, dataset, f"inputs[{at}]") for at, dataset in enumerate(inputs)]
    written = [state_dataset(collector, dataset, f"outputs[{at}]") for at, dataset in enumerate(outputs)]
    claims.between(_distinct(read), _distinct(written))
    for at, name in enumerate(written):
        if name is not None:
            claims.of_columns(name, outputs[at], f"outputs[{at}]")


def _shape(event: Json) -> Shape:
    """Decided by the properties that are present, else by the schema that the event names."""
    schema = str(event.get("schemaURL") or "").rpartition("/")[2]
    if event.get("dataset") is not None and event.get("job") is None:
        return "dataset"
    if event.get("run") is not None or schema == "RunEvent" or event.get("eventType") is not None:
        return "run"
    return "dataset" if schema == "DatasetEvent" else "job" if event.get("job") is not None else "run"


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


def _distinct(names: list[str | None]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name is not None))
