"""The explicit lineage facet: what each dataset, column or job is derived from, instead of "all inputs"."""

from collections.abc import Iterator
from typing import Any

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facets import Json, is_deleted, objects
from lily.intake.openlineage.flows import End, Flow, FlowKind, column_of, flow_kind, whole
from lily.intake.openlineage.naming import JOB, DatasetName, job_name
from lily.model.edges import DERIVED_FROM, INFLUENCES, USED_IN
from lily.model.values import MAX_QUALIFIED_NAME, Checker


class ExplicitLineage:
    """Parses the lineage facets of one event. `targets` are the datasets, columns and jobs that they explain."""

    def __init__(self, collector: AssetCollector, job: DatasetName | None) -> None:
        self._collector, self._job = collector, job  # None: of a dataset's event

    def of_job(self, checker: Checker, facet: Json, where: str) -> "Explained":
        """Entries, each with the target that it explains."""
        found = Explained()
        entries = None if is_deleted(facet) else facet.get("entries")
        if entries is None and not is_deleted(facet):
            checker.refuse("MISSING_FIELD", f"{where}.entries is required", f"{where}.entries")
        for entry in objects(checker, entries, f"{where}.entries"):
            target = self._entity(checker, entry, f"{where}.entries")
            if target is not None:
                self._explain(checker, found, target, entry, f"{where}.entries")
        return found

    def of_dataset(self, checker: Checker, facet: Json, where: str, dataset: DatasetName) -> "Explained":
        found = Explained()
        if not is_deleted(facet):
            self._explain(checker, found, dataset, facet, where)
        return found

    def _explain(self, checker: Checker, found: "Explained", target: DatasetName, entry: Json, where: str) -> None:
        fields = entry.get("fields")
        if fields is not None and not isinstance(fields, dict):
            return checker.refuse("INVALID_TYPE", f"{where}.fields must be an object", f"{where}.fields")
        if not fields and entry.get("inputs") is None:
            return None  # it says nothing
        found.targets.append(whole(target))
        found.flows += self._into(checker, whole(target), entry.get("inputs"), f"{where}.inputs")
        for field, about in (fields or {}).items():
            column = column_of(checker, target, field, f"{where}.fields")
            if not isinstance(about, dict):
                checker.refuse("INVALID_TYPE", f"each of {where}.fields must be an object", f"{where}.fields")
            elif column is not None:
                found.targets.append(column)
                found.flows += self._into(checker, column, about.get("inputs"), f"{where}.fields.inputs")
        return None

    def _into(self, checker: Checker, target: End, given: Any, where: str) -> Iterator[Flow]:
        for source in objects(checker, given, where):
            named = self._entity(checker, source, where)
            field = source.get("field")
            if named is None:
                continue
            start = whole(named) if field is None else column_of(checker, named, field, f"{where}.field")
            if start is not None:
                yield Flow(start, target, *_kind(source, start, target))

    def _entity(self, checker: Checker, holder: Json, where: str) -> DatasetName | None:
        kind = holder.get("type")
        if kind == "DATASET":
            return self._collector.dataset_name(checker, holder, where)
        if kind != "JOB":
            checker.refuse("INVALID_VALUE", f"{where}.type must be DATASET or JOB", f"{where}.type")
            return None
        if holder.get("name") is None and self._job is not None:
            return self._job
        name = checker.name(holder.get("name"), f"{where}.name")
        namespace = self._collector.namespace(checker, holder, where)
        if name is None or namespace is None:
            return None
        qualified_name = checker.name(job_name(namespace, name), f"{where}.name", MAX_QUALIFIED_NAME)
        return None if qualified_name is None else DatasetName(qualified_name, name, JOB)


class Explained:
    """Flows, and what they explain in full: an end without a flow has no tracked source."""

    __slots__ = ("flows", "targets")

    def __init__(self) -> None:
        self.flows: list[Flow] = []
        self.targets: list[End] = []


def _kind(source: Json, start: End, target: End) -> FlowKind:
    """A field that feeds a whole dataset decides about its rows, unless a transformation says that it is direct."""
    stated = flow_kind(source)
    if start.field is not None and target.field is None and target.of.entity_type != JOB:
        return FlowKind(stated.type if source.get("transformations") else INFLUENCES, stated.masking)
    return stated._replace(type=USED_IN) if target.of.entity_type == JOB and stated.type == DERIVED_FROM else stated
