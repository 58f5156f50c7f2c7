"""Recognises what an event is about: a run, a job or a dataset. Extra properties do not change that."""

from typing import Literal

from lily.intake.openlineage.facets import Json

Shape = Literal["run", "job", "dataset"]

_BY_SCHEMA: dict[str, Shape] = {"RunEvent": "run", "JobEvent": "job", "DatasetEvent": "dataset"}


def event_shape(event: Json) -> Shape:
    """The schema that the event names, if the event has what that schema is about; else by what is present."""
    named = _BY_SCHEMA.get(str(event.get("schemaURL") or "").rpartition("/")[2])
    has = {name for name in ("run", "job", "dataset") if event.get(name) is not None}
    if named in has:
        return named
    if "dataset" in has and "job" not in has:
        return "dataset"
    if "run" in has or named == "run" or event.get("eventType") is not None:
        return "run"
    return "job" if "job" in has else named or "run"
