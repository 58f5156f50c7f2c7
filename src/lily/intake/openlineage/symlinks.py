"""The symlinks facet: other names of a dataset. What holds for one of them holds for all.

The name in a catalogue is preferred over a storage location: within the event, a dataset that is named by its location
and has a table as a symlink is that table.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facet_reader import FacetReader
from lily.intake.openlineage.facets import Json, is_deleted, objects
from lily.intake.openlineage.flows import End, Flow, whole
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import SAME_AS
from lily.model.values import Checker

MAX_NAMES = 20  # of one dataset
LOCATION = "file"  # the type of asset


class GivenName(NamedTuple):
    """A name of a dataset as the event gives it, and as Lily names it."""

    namespace: str
    name: str
    named: DatasetName


class Symlinks(NamedTuple):
    """By the qualified name that the dataset has in the event: its `others`, and those that are `tables`, the
    preferred one first."""

    others: Mapping[str, Sequence[DatasetName]]
    tables: Mapping[str, Sequence[GivenName]]


def resolve_symlinks(collector: AssetCollector, event: Json) -> Symlinks:
    """Reads the symlinks of all datasets of the event, before they are stated under their names."""
    found: dict[str, Sequence[DatasetName]] = {}
    tables: dict[str, Sequence[GivenName]] = {}
    for entity, dataset in _datasets(event):
        facets = FacetReader(collector.warnings, dataset, entity)
        own = collector.dataset_name(Checker(), dataset, entity) if facets else None
        given = None if own is None else facets.read("symlinks", partial(read_identifiers, collector))
        if own is None or not given:
            continue
        given = [GivenName(str(dataset.get("namespace") or ""), dataset["name"], own), *given]
        of_tables = [name for name in given if name.named.entity_type != LOCATION]
        preferred = own
        if own.entity_type == LOCATION:
            preferred = of_tables[0].named if of_tables else own
            collector.prefer(dataset, preferred)
        others = {name.named.qualified_name: name.named for name in given}
        others.pop(preferred.qualified_name)
        found[preferred.qualified_name] = tuple(others.values())
        tables[preferred.qualified_name] = tuple(of_tables)
    return Symlinks(found, tables)


def same_flows(
    dataset: DatasetName, columns: Mapping[str, str] | None, others: Sequence[DatasetName]
) -> Iterator[Flow]:
    """Between all names of the dataset, and of the columns that its schema names, in both directions."""
    for other in others:
        yield from _both(whole(dataset), whole(other))
        for column, name in (columns or {}).items():
            rest = column.removeprefix(dataset.qualified_name)
            yield from _both(End(dataset, column, name), End(other, f"{other.qualified_name}{rest}", name))


def _both(one: End, other: End) -> Iterator[Flow]:
    yield Flow(one, other, SAME_AS, masking=False)
    yield Flow(other, one, SAME_AS, masking=False)


def _datasets(event: Json) -> Iterator[tuple[str, Json]]:
    """Those that have the facet."""
    if _has_symlinks(event.get("dataset")):
        yield "dataset", event["dataset"]
    for role in ("inputs", "outputs"):
        given = event.get(role)
        for at, dataset in enumerate(given if isinstance(given, list) else ()):
            if _has_symlinks(dataset):
                yield f"{role}[{at}]", dataset


def _has_symlinks(dataset: Any) -> bool:
    facets = dataset.get("facets") if isinstance(dataset, dict) else None
    return isinstance(facets, dict) and facets.get("symlinks") is not None


def read_identifiers(collector: AssetCollector, checker: Checker, facet: Json, where: str) -> list[GivenName]:
    where = f"{where}.identifiers"
    given = [] if is_deleted(facet) else objects(checker, facet.get("identifiers"), where)
    if len(given) > MAX_NAMES:
        checker.refuse("TOO_LONG", f"{where} must not have more than {MAX_NAMES} items", where)
        return []
    names = [(one, collector.dataset_name(checker, one, where, is_table=_is_table(one))) for one in given]
    return [GivenName(str(one.get("namespace") or ""), one["name"], named) for one, named in names if named is not None]


def _is_table(identifier: Json) -> bool:
    return str(identifier.get("type", "")).upper() == "TABLE"
