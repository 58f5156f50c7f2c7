"""The facets of an event that are kept as they came, because nothing else is stated from them: with its run, else with
the job or dataset that the event is about."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.datasets import Stated
from lily.intake.openlineage.facets import MAX_KEPT, Json, is_deleted, json_size
from lily.model.errors import Problem, Refused
from lily.model.values import Checker

MAX_FACET = MAX_KEPT
MAX_FACETS = 128 << 10  # of one event

# What is stated about assets and edges instead.
_OF_JOB: Final = frozenset({"documentation", "ownership", "tags", "lineage"})
_OF_DATASET: Final = _OF_JOB | {"schema", "columnLineage", "datasetType"}


def kept_facets(
    collector: AssetCollector, event: Json, read: Sequence[Stated | None], written: Sequence[Stated | None]
) -> Json:
    """By place: `run:NAME`, `job:NAME`, and `inputs:ID:NAME` or `outputs:ID:NAME` with the id of the dataset."""
    return _all_kept(collector, _given(collector, event, read, written))


def facets_of_dataset(collector: AssetCollector, event: Json) -> Json:
    """Of an event about a dataset, by place: `dataset:NAME`."""
    return _all_kept(collector, _facets(event["dataset"], "facets", "dataset", "dataset:", _OF_DATASET))


def _all_kept(collector: AssetCollector, given: Iterable[tuple[str, str, Any]]) -> Json:
    """None stands for a facet that says it is deleted: it ends what an earlier event stated."""
    found: Json = {}
    size = 0
    for place, where, facet in given:
        if isinstance(facet, dict) and is_deleted(facet):
            found[place] = None
            continue
        kept, length = _kept(collector, facet, where)
        if kept is None:
            continue
        size += length
        if size > MAX_FACETS:
            _ignore(collector, "TOO_LONG", f"the facets of one event must not exceed {MAX_FACETS} bytes", where)
            break
        found[place] = kept
    return found


def _given(
    collector: AssetCollector, event: Json, read: Sequence[Stated | None], written: Sequence[Stated | None]
) -> Iterator[tuple[str, str, Any]]:
    """The place of each facet, where it stands in the event, and the facet."""
    for name in ("run", "job"):
        yield from _facets(event.get(name), "facets", name, f"{name}:", _OF_JOB if name == "job" else frozenset())
    for role, datasets in (("inputs", read), ("outputs", written)):
        for at, dataset in enumerate(datasets):
            if dataset is not None:
                place = f"{role}:{collector.id(dataset.named.qualified_name)}:"
                holder = event[role][at]
                yield from _facets(holder, "facets", f"{role}[{at}]", place, _OF_DATASET)
                yield from _facets(holder, f"{role[:-1]}Facets", f"{role}[{at}]", place, frozenset())


def _facets(holder: Any, key: str, entity: str, place: str, used: frozenset[str]) -> Iterator[tuple[str, str, Any]]:
    facets = holder.get(key) if isinstance(holder, dict) else None
    for name, facet in facets.items() if isinstance(facets, dict) else ():
        if name not in used and facet is not None:
            yield f"{place}{name}", f"{entity}.{key}.{name}", facet


def _kept(collector: AssetCollector, facet: Any, where: str) -> tuple[Any, int]:
    """The facet and its size. None if it cannot be kept."""
    if not isinstance(facet, dict):
        _ignore(collector, "INVALID_TYPE", f"{where} must be an object", where)
        return None, 0
    length, checker = json_size(facet), Checker()
    if length > MAX_FACET:  # before each part of it is looked at
        _ignore(collector, "TOO_LONG", f"{where} must not exceed {MAX_FACET} bytes", where)
        return None, 0
    kept = None
    with suppress(Refused):  # too many problems
        kept = checker.free(facet, where)
    collector.warnings.extend(checker.problems[:1])
    return (None, 0) if checker.problems else (kept, length)


def _ignore(collector: AssetCollector, code: str, described: str, where: str) -> None:
    collector.warnings.append(Problem(code, f"{described}; it is not kept", where))
