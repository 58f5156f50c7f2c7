"""Flows of data that a facet states: from a dataset or a column to another."""

from typing import Any, NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector, column_name
from lily.intake.openlineage.facets import Json
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import DERIVED_FROM, INFLUENCES
from lily.model.values import MAX_ITEMS, Checker


class End(NamedTuple):
    """One end of a flow: a dataset or job, or a column of a dataset."""

    of: DatasetName
    qualified_name: str  # of the column, else of the dataset or job itself
    field: str | None = None

    def mention(self, collector: AssetCollector) -> None:
        """States that it exists, and nothing else."""
        if self.qualified_name not in collector.stated:
            collector.mention(self.of.qualified_name, self.of.entity_type, {"name": self.of.title})
            if self.field is not None:
                about = {"name": self.field, "parent": self.of.qualified_name}
                collector.mention(self.qualified_name, "column", about)


class Flow(NamedTuple):
    source: End
    target: End
    kind: str
    masking: bool


def whole(of: DatasetName) -> End:
    return End(of, of.qualified_name)


def column_of(checker: Checker, of: DatasetName, field: Any, entity: str) -> End | None:
    found = column_name(checker, of.qualified_name, field, entity)
    return None if found is None else End(of, *found)


def into_whole(flow: Flow) -> Flow:
    """The same between the datasets of columns."""
    source = flow.source if flow.kind == INFLUENCES else whole(flow.source.of)
    return Flow(source, whole(flow.target.of), flow.kind, masking=False)


def says_how(source: Json) -> bool:
    """Whether a facet says how an input is used. Else it may also be one that only decides about rows."""
    return bool(source.get("transformations"))


class FlowKind(NamedTuple):
    type: str
    masking: bool


_DIRECT = FlowKind(DERIVED_FROM, masking=False)


def flow_kind(source: Json) -> FlowKind:
    """The type of the edge, and whether it masks its input: only if every transformation does, because even an
    aggregate such as max() shows a real value."""
    transformations = source.get("transformations")
    if transformations is None:
        return _DIRECT
    if not isinstance(transformations, list) or not transformations or len(transformations) > MAX_ITEMS:
        return _DIRECT
    steps = [step for step in transformations if isinstance(step, dict)]
    indirect = all(str(step.get("type", "")).upper() == "INDIRECT" for step in steps)
    masking = len(steps) == len(transformations) and all(step.get("masking") is True for step in steps)
    return FlowKind(INFLUENCES if indirect and steps else DERIVED_FROM, masking)
