"""From a decoded OpenLineage event to Lily's own."""

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from lily.intake.openlineage.claims import Claims
from lily.intake.openlineage.datasets import state_dataset, state_job
from lily.intake.openlineage.facets import Json, objects
from lily.intake.openlineage.gathering import Gathering
from lily.intake.openlineage.moments import rfc3339
from lily.intake.openlineage.names import Naming
from lily.model import ids
from lily.model.edges import MAX_RUN, ClaimsEvent
from lily.model.envelopes import FUTURE_SKEW, read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Statement
from lily.plugins import Sender

MOST_ASSETS = 10_000  # of one event: each is a record of the log
DESIGN = "job"  # the run of a JobEvent: lineage by design, complete as soon as it is said

_EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})

Shape = Literal["run", "job", "dataset"]


class Conversion(NamedTuple):
    assets: list[AssetEvent]
    claims: ClaimsEvent | None


def convert(event: Any, sender: Sender, naming: Naming, *, received: str, skew: timedelta = FUTURE_SKEW) -> Conversion:
    """Raises Refused with everything that is wrong with it; then nothing of it counts."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_TYPE", "an OpenLineage event is a JSON object", "body"))
    time = read_time(rfc3339(event.get("eventTime")), received=received, skew=skew)
    gathering = Gathering(naming, sender.tenant)
    claims = Claims(gathering)
    shape = _shape(event)
    job = run = None
    if shape == "dataset":
        state_dataset(gathering, _object(gathering, event, "dataset"), "dataset")
    else:
        job = state_job(gathering, _object(gathering, event, "job"))
        run = DESIGN if shape == "job" else _run(gathering, event)
        _gather_lineage(gathering, claims, event)
    complete = shape == "job" or _event_type(gathering, event) == "COMPLETE"
    found = claims.found()
    if len(gathering.stated) > MOST_ASSETS:
        gathering.checker.refuse("TOO_LONG", f"one event may tell of {MOST_ASSETS} assets; split it", "body")
    if gathering.checker.problems:
        raise Refused(*gathering.checker.problems)
    first = ids.event_id()
    assets = _asset_events(gathering, sender, time, first)
    if not found or job is None or run is None:
        return Conversion(assets, None)
    claimed = ClaimsEvent(
        first,
        time,
        sender.tenant,
        gathering.id(job),
        run,
        complete,
        found,
        sender.by,
        sender.authorised,
        sender.correlation,
        sender.trace,
    )
    return Conversion(assets, claimed)


def _gather_lineage(gathering: Gathering, claims: Claims, event: Json) -> None:
    inputs = objects(gathering.checker, event.get("inputs"), "inputs")
    outputs = objects(gathering.checker, event.get("outputs"), "outputs")
    read = [state_dataset(gathering, dataset, f"inputs[{at}]") for at, dataset in enumerate(inputs)]
    written = [state_dataset(gathering, dataset, f"outputs[{at}]") for at, dataset in enumerate(outputs)]
    claims.between(_distinct(read), _distinct(written))
    for at, name in enumerate(written):
        if name is not None:
            claims.of_columns(name, outputs[at], f"outputs[{at}]")


def _shape(event: Json) -> Shape:
    """By what is there; where that leaves it open, by the schema the event names."""
    schema = str(event.get("schemaURL") or "").rpartition("/")[2]
    if event.get("dataset") is not None and event.get("job") is None:
        return "dataset"
    if event.get("run") is not None or schema == "RunEvent" or event.get("eventType") is not None:
        return "run"
    return "dataset" if schema == "DatasetEvent" else "job" if event.get("job") is not None else "run"


def _object(gathering: Gathering, event: Json, name: str) -> Json:
    value = event.get(name)
    if isinstance(value, dict):
        return value
    if value is None:
        raise Refused(*gathering.checker.problems, Problem("MISSING_FIELD", f"{name} is required", name))
    raise Refused(*gathering.checker.problems, Problem("INVALID_TYPE", f"{name} must be an object", name))


def _run(gathering: Gathering, event: Json) -> str | None:
    """The specification wants a UUID; some producers send other text, and it only has to tell runs apart."""
    return gathering.checker.name(_object(gathering, event, "run").get("runId"), "run.runId", MAX_RUN)


def _event_type(gathering: Gathering, event: Json) -> str:
    given = event.get("eventType")
    if given is None:
        return "OTHER"
    kind = given.upper() if isinstance(given, str) else ""
    if kind not in _EVENT_TYPES:
        gathering.checker.refuse(
            "INVALID_VALUE", f"eventType must be one of {', '.join(sorted(_EVENT_TYPES))}", "eventType"
        )
    return kind


def _asset_events(gathering: Gathering, sender: Sender, time: str, first: str) -> list[AssetEvent]:
    """What is stated here was checked part by part, so it is not read once more as a whole."""
    return [
        AssetEvent(
            _numbered(first, number),
            time,
            sender.tenant,
            Statement("source", "upsert", name, kind, attributes, by=sender.by, authorised=sender.authorised),
            sender.correlation,
            sender.trace,
        )
        for number, (name, (kind, attributes)) in enumerate(gathering.stated.items(), 1)
    ]


def _numbered(event_id: str, number: int) -> str:
    """Ids of events that came together: the first one's, with its last digits counted on. A random number for each
    would cost more than the event."""
    return f"{event_id[:-5]}{(int(event_id[-5:], 16) + number) & 0xFFFFF:05x}"


def _distinct(names: list[str | None]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name is not None))
